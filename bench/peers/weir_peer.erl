%% SPDX-License-Identifier: BSD-2-Clause
%%
%% Erlang: a process for each stage. Reads and answers the lines of peer.hpp.
%%
%% Mailboxes have no bound, so the processes bound by messages what is under
%% way: each may send a window down, and another half of it for each `more`.
%% Without leave to send, a transformer waits for `more` alone and leaves its
%% items in the mailbox. Tokens are small integers: nothing is copied.
%%
%% The number of workers is the number of schedulers online.

-module(weir_peer).
-export([start/0]).

-define(PRODUCERS, 8).

start() ->
    case io:get_line("") of
        eof ->
            halt(0);
        Line ->
            ["erlang", Scene | Numbers] = string:lexemes(Line, " \n"),
            [Stages, Window, Workers, Items] =
                [list_to_integer(Number) || Number <- Numbers],
            erlang:system_flag(schedulers_online, Workers),
            Answer = run(Scene, Stages, Window, Items),
            io:put_chars(lists:join($\s, [integer_to_list(N) || N <- Answer])),
            io:nl(),
            start()
    end.

run("pipeline", Stages, Window, Items) -> pipeline(Stages, Window, Items);
run("fan-in", _, Window, Items) -> fan_in(Window, Items);
run("ping-pong", _, _, Items) -> ping_pong(Items);
run("create", _, _, Items) -> create(Items).

%% [ELAPSED_NS, COUNT, SUM, LAST, BYTES], once the consumer has told.
answer(Start) ->
    receive
        {ended, End, Count, Sum, Last} ->
            [End - Start, Count, Sum band 16#ffffffffffffffff, Last, 0]
    end.

ended(Main, Count, Sum, Last) ->
    Main ! {ended, now_ns(), Count, Sum, Last}.

now_ns() ->
    erlang:monotonic_time(nanosecond).

%% What has been passed on is asked for again in halves of the window.
batch(Window) ->
    max(Window div 2, 1).

%% --- W1 ----------------------------------------------------------------------

pipeline(Stages, Window, Items) ->
    Main = self(),
    Batch = batch(Window),
    Consumer = spawn(fun() ->
        consume(Main, up(), Batch, Batch, Items, 0, 0, 0)
    end),
    [First | _] = Pids = lists:foldl(
        fun(_, [Down | _] = Pids) ->
            Pid = spawn(fun() ->
                transform(up(), Down, Batch, Batch, Window)
            end),
            Down ! {up, Pid},
            [Pid | Pids]
        end,
        [Consumer],
        lists:seq(1, Stages)
    ),
    Producer = spawn(fun() ->
        receive
            start -> produce(First, Batch, Window, 0, Items)
        end
    end),
    First ! {up, Producer},
    Start = now_ns(),
    Producer ! start,
    Answer = answer(Start),
    [exit(Pid, kill) || Pid <- Pids],
    Answer.

up() ->
    receive
        {up, Pid} -> Pid
    end.

produce(_, _, _, Items, Items) ->
    ok;
produce(Down, Batch, 0, Next, Items) ->
    receive
        more -> produce(Down, Batch, Batch, Next, Items)
    end;
produce(Down, Batch, Allowed, Next, Items) ->
    Down ! Next,
    produce(Down, Batch, Allowed - 1, Next + 1, Items).

transform(Up, Down, Batch, Left, 0) ->
    receive
        more -> transform(Up, Down, Batch, Left, Batch)
    end;
transform(Up, Down, Batch, 0, Allowed) ->
    Up ! more,
    transform(Up, Down, Batch, Batch, Allowed);
transform(Up, Down, Batch, Left, Allowed) ->
    receive
        more ->
            transform(Up, Down, Batch, Left, Allowed + Batch);
        X ->
            Down ! X + 1,
            transform(Up, Down, Batch, Left - 1, Allowed - 1)
    end.

consume(Main, _, _, _, Items, Items, Sum, Last) ->
    ended(Main, Items, Sum, Last);
consume(Main, Up, Batch, 0, Items, Count, Sum, Last) ->
    Up ! more,
    consume(Main, Up, Batch, Batch, Items, Count, Sum, Last);
consume(Main, Up, Batch, Left, Items, Count, Sum, _) ->
    receive
        X -> consume(Main, Up, Batch, Left - 1, Items, Count + 1, Sum + X, X)
    end.

%% --- W3 ----------------------------------------------------------------------

%% Each producer has its part of the window. An item that completes a batch
%% says whose it is, so that the consumer need not count for each.
fan_in(Window, Items) ->
    Main = self(),
    Share = max(Window div ?PRODUCERS, 1),
    Batch = batch(Share),
    Each = Items div ?PRODUCERS,
    Consumer = spawn(fun() -> fan_consume(Main, Items, 0, 0) end),
    Producers = [
        spawn(fun() ->
            receive
                start -> fan_produce(Consumer, Batch, Batch, Share, 0, Each)
            end
        end)
     || _ <- lists:seq(1, ?PRODUCERS)
    ],
    Start = now_ns(),
    [Producer ! start || Producer <- Producers],
    answer(Start).

fan_produce(_, _, _, _, Items, Items) ->
    ok;
fan_produce(Down, Batch, Left, 0, Next, Items) ->
    receive
        more -> fan_produce(Down, Batch, Left, Batch, Next, Items)
    end;
fan_produce(Down, Batch, 1, Allowed, Next, Items) ->
    Down ! {self(), Next},
    fan_produce(Down, Batch, Batch, Allowed - 1, Next + 1, Items);
fan_produce(Down, Batch, Left, Allowed, Next, Items) ->
    Down ! Next,
    fan_produce(Down, Batch, Left - 1, Allowed - 1, Next + 1, Items).

fan_consume(Main, Items, Items, Sum) ->
    ended(Main, Items, Sum, 0);
fan_consume(Main, Items, Count, Sum) ->
    receive
        {Up, X} ->
            Up ! more,
            fan_consume(Main, Items, Count + 1, Sum + X);
        X ->
            fan_consume(Main, Items, Count + 1, Sum + X)
    end.

ping_pong(Items) ->
    Main = self(),
    Ping = spawn(fun() -> ping(Main, up(), Items, 0, 0) end),
    Pong = spawn(fun() -> pong(Ping) end),
    Ping ! {up, Pong},
    Start = now_ns(),
    Ping ! 0,
    Answer = answer(Start),
    exit(Pong, kill),
    Answer.

%% The serve is the token 0, which has not been around.
ping(Main, Pong, Items, Count, Sum) ->
    receive
        0 ->
            Pong ! 1,
            ping(Main, Pong, Items, Count, Sum);
        X when Count + 2 =:= Items ->
            ended(Main, Items, Sum + X, X);
        X ->
            Pong ! X + 1,
            ping(Main, Pong, Items, Count + 2, Sum + X)
    end.

pong(Ping) ->
    receive
        X ->
            Ping ! X + 1,
            pong(Ping)
    end.

create(Items) ->
    Main = self(),
    Got = atomics:new(2, [{signed, false}]),
    Child = fun() -> child(Main, Got, Items) end,
    Bytes = weigh(Child),
    Start = now_ns(),
    spawn(fun() -> create(Child, 0, Items) end),
    [Elapsed, Count, Sum, Last, _] = answer(Start),
    [Elapsed, Count, Sum, Last, Bytes].

create(_, Items, Items) ->
    ok;
create(Child, Next, Items) ->
    spawn(Child) ! Next,
    create(Child, Next + 1, Items).

child(Main, Got, Items) ->
    receive
        X ->
            atomics:add(Got, 2, X),
            case atomics:add_get(Got, 1, 1) of
                Items -> ended(Main, Items, atomics:get(Got, 2), 0);
                _ -> ok
            end
    end.

%% What a process that waits has taken.
weigh(Child) ->
    Pid = spawn(Child),
    {memory, Bytes} = process_info(Pid, memory),
    exit(Pid, kill),
    Bytes.
