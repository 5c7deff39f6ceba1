/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the numbers that errno(3) has on Linux, which are the same on all
 * machines that the library runs on: strerror(3) need not be thread-safe.
 */
#ifndef WEIR_BASE_WORDS_H
#define WEIR_BASE_WORDS_H

/* clang-format off */
#define WEIR__WORDS(X) \
	X(1, "Operation not permitted") \
	X(2, "No such file or directory") \
	X(3, "No such process") \
	X(4, "Interrupted system call") \
	X(5, "Input/output error") \
	X(6, "No such device or address") \
	X(7, "Argument list too long") \
	X(8, "Exec format error") \
	X(9, "Bad file descriptor") \
	X(10, "No child processes") \
	X(11, "Resource temporarily unavailable") \
	X(12, "Cannot allocate memory") \
	X(13, "Permission denied") \
	X(14, "Bad address") \
	X(15, "Block device required") \
	X(16, "Device or resource busy") \
	X(17, "File exists") \
	X(18, "Invalid cross-device link") \
	X(19, "No such device") \
	X(20, "Not a directory") \
	X(21, "Is a directory") \
	X(22, "Invalid argument") \
	X(23, "Too many open files in system") \
	X(24, "Too many open files") \
	X(25, "Inappropriate ioctl for device") \
	X(26, "Text file busy") \
	X(27, "File too large") \
	X(28, "No space left on device") \
	X(29, "Illegal seek") \
	X(30, "Read-only file system") \
	X(31, "Too many links") \
	X(32, "Broken pipe") \
	X(33, "Numerical argument out of domain") \
	X(34, "Numerical result out of range") \
	X(35, "Resource deadlock avoided") \
	X(36, "File name too long") \
	X(37, "No locks available") \
	X(38, "Function not implemented") \
	X(39, "Directory not empty") \
	X(40, "Too many levels of symbolic links") \
	X(41, "Unknown error 41") \
	X(42, "No message of desired type") \
	X(43, "Identifier removed") \
	X(44, "Channel number out of range") \
	X(45, "Level 2 not synchronized") \
	X(46, "Level 3 halted") \
	X(47, "Level 3 reset") \
	X(48, "Link number out of range") \
	X(49, "Protocol driver not attached") \
	X(50, "No CSI structure available") \
	X(51, "Level 2 halted") \
	X(52, "Invalid exchange") \
	X(53, "Invalid request descriptor") \
	X(54, "Exchange full") \
	X(55, "No anode") \
	X(56, "Invalid request code") \
	X(57, "Invalid slot") \
	X(58, "Unknown error 58") \
	X(59, "Bad font file format") \
	X(60, "Device not a stream") \
	X(61, "No data available") \
	X(62, "Timer expired") \
	X(63, "Out of streams resources") \
	X(64, "Machine is not on the network") \
	X(65, "Package not installed") \
	X(66, "Object is remote") \
	X(67, "Link has been severed") \
	X(68, "Advertise error") \
	X(69, "Srmount error") \
	X(70, "Communication error on send") \
	X(71, "Protocol error") \
	X(72, "Multihop attempted") \
	X(73, "RFS specific error") \
	X(74, "Bad message") \
	X(75, "Value too large for defined data type") \
	X(76, "Name not unique on network") \
	X(77, "File descriptor in bad state") \
	X(78, "Remote address changed") \
	X(79, "Can not access a needed shared library") \
	X(80, "Accessing a corrupted shared library") \
	X(81, ".lib section in a.out corrupted") \
	X(82, "Attempting to link in too many shared libraries") \
	X(83, "Cannot exec a shared library directly") \
	X(84, "Invalid or incomplete multibyte or wide character") \
	X(85, "Interrupted system call should be restarted") \
	X(86, "Streams pipe error") \
	X(87, "Too many users") \
	X(88, "Socket operation on non-socket") \
	X(89, "Destination address required") \
	X(90, "Message too long") \
	X(91, "Protocol wrong type for socket") \
	X(92, "Protocol not available") \
	X(93, "Protocol not supported") \
	X(94, "Socket type not supported") \
	X(95, "Operation not supported") \
	X(96, "Protocol family not supported") \
	X(97, "Address family not supported by protocol") \
	X(98, "Address already in use") \
	X(99, "Cannot assign requested address") \
	X(100, "Network is down") \
	X(101, "Network is unreachable") \
	X(102, "Network dropped connection on reset") \
	X(103, "Software caused connection abort") \
	X(104, "Connection reset by peer") \
	X(105, "No buffer space available") \
	X(106, "Transport endpoint is already connected") \
	X(107, "Transport endpoint is not connected") \
	X(108, "Cannot send after transport endpoint shutdown") \
	X(109, "Too many references: cannot splice") \
	X(110, "Connection timed out") \
	X(111, "Connection refused") \
	X(112, "Host is down") \
	X(113, "No route to host") \
	X(114, "Operation already in progress") \
	X(115, "Operation now in progress") \
	X(116, "Stale file handle") \
	X(117, "Structure needs cleaning") \
	X(118, "Not a XENIX named type file") \
	X(119, "No XENIX semaphores available") \
	X(120, "Is a named type file") \
	X(121, "Remote I/O error") \
	X(122, "Disk quota exceeded") \
	X(123, "No medium found") \
	X(124, "Wrong medium type") \
	X(125, "Operation canceled") \
	X(126, "Required key not available") \
	X(127, "Key has expired") \
	X(128, "Key has been revoked") \
	X(129, "Key was rejected by service") \
	X(130, "Owner died") \
	X(131, "State not recoverable") \
	X(132, "Operation not possible due to RF-kill") \
	X(133, "Memory page has hardware error")
/* clang-format on */

#endif
