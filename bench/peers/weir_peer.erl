%% SPDX-License-Identifier: BSD-2-Clause
%%
%% Erlang: a process for each stage. Reads and answers the lines of peer.hpp.
%%
%% Mailboxes have no bound, so the processes bound by messages what is under
%% way: each may send a window down, and another half of it for each `more`.
%% Without leave to send, a transformer waits for `more` alone and leaves its
%% items in the mailbox. Tokens are small integers: nothing is copied.
%% erlang.lists: what `more` asks for comes as one list.
%%
%% W4: a manager has the queue and counts the processes, of which each does a
%% job's item and tells. erlang.pool: as many processes are kept.
%%
%% The number of workers is the number of schedulers online.

-module(weir_peer).
-export([start/0, work/2, work_ns/2, cpu_ns/0]).
-on_load(load/0).
-nifs([work/2, work_ns/2, cpu_ns/0]).

-define(PRODUCERS, 8).
-define(QUEUE, 1024).

start() ->
    case io:get_line("") of
        eof ->
            halt(0);
        Line ->
            [Clock, Who, Scene | Numbers] = string:lexemes(Line, " \n"),
            [Stages, Window, Workers, Items, Steps] =
                [list_to_integer(Number) || Number <- Numbers],
            persistent_term:put(clock, Clock),
            erlang:system_flag(schedulers_online, Workers),
            Answer =
                case Scene of
                    "jobs" -> jobs(Who, Window, Workers, Items, Steps);
                    _ -> run(Who, Scene, Stages, Window, Items) ++ [0, 0]
                end,
            io:put_chars(lists:join($\s, [integer_to_list(N) || N <- Answer])),
            io:nl(),
            start()
    end.

run("erlang", "pipeline", Stages, Window, Items) ->
    pipeline(Stages, Window, Items, one_by_one);
run("erlang.lists", "pipeline", Stages, Window, Items) ->
    pipeline(Stages, Window, Items, lists);
run("erlang", "fan-in", _, Window, Items) ->
    fan_in(Window, Items);
run("erlang", "ping-pong", _, _, Items) ->
    ping_pong(Items);
run("erlang", "create", _, _, Items) ->
    create(Items).

%% [ELAPSED_NS, COUNT, SUM, LAST, BYTES], once the consumer has told.
answer(Start) ->
    receive
        {ended, End, Count, Sum, Last} ->
            [End - Start, Count, Sum band 16#ffffffffffffffff, Last, 0]
    end.

ended(Main, Count, Sum, Last) ->
    Main ! {ended, now_ns(), Count, Sum, Last}.

%% CPU time comes in milliseconds.
now_ns() ->
    case persistent_term:get(clock) of
        "cpu" -> element(1, statistics(runtime)) * 1000000;
        "wall" -> erlang:monotonic_time(nanosecond)
    end.

%% What has been passed on is asked for again in halves of the window.
batch(Window) ->
    max(Window div 2, 1).

%% --- W1 ----------------------------------------------------------------------

pipeline(Stages, Window, Items, How) ->
    Main = self(),
    Batch = batch(Window),
    Consumer = spawn(fun() ->
        case How of
            one_by_one -> consume(Main, up(), Batch, Batch, Items, 0, 0, 0);
            lists -> consume_lists(Main, up(), Items, 0, 0, 0)
        end
    end),
    [First | _] = Pids = lists:foldl(
        fun(_, [Down | _] = Pids) ->
            Pid = spawn(fun() ->
                case How of
                    one_by_one -> transform(up(), Down, Batch, Batch, Window);
                    lists -> transform_lists(up(), Down, Window div Batch)
                end
            end),
            Down ! {up, Pid},
            [Pid | Pids]
        end,
        [Consumer],
        lists:seq(1, Stages)
    ),
    Producer = spawn(fun() ->
        receive
            start when How =:= one_by_one ->
                produce(First, Batch, Window, 0, Items);
            start ->
                produce_lists(First, Batch, Window div Batch, 0, Items)
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

produce_lists(_, _, _, Items, Items) ->
    ok;
produce_lists(Down, Batch, 0, Next, Items) ->
    receive
        more -> produce_lists(Down, Batch, 1, Next, Items)
    end;
produce_lists(Down, Batch, Allowed, Next, Items) ->
    End = min(Next + Batch, Items),
    Down ! lists:seq(Next, End - 1),
    produce_lists(Down, Batch, Allowed - 1, End, Items).

transform_lists(Up, Down, 0) ->
    receive
        more -> transform_lists(Up, Down, 1)
    end;
transform_lists(Up, Down, Allowed) ->
    receive
        more ->
            transform_lists(Up, Down, Allowed + 1);
        List ->
            Down ! [X + 1 || X <- List],
            Up ! more,
            transform_lists(Up, Down, Allowed - 1)
    end.

consume_lists(Main, _, Items, Items, Sum, Last) ->
    ended(Main, Items, Sum, Last);
consume_lists(Main, Up, Items, Count0, Sum0, Last0) ->
    receive
        List ->
            {Count, Sum, Last} = add(List, Count0, Sum0, Last0),
            Up ! more,
            consume_lists(Main, Up, Items, Count, Sum, Last)
    end.

add([X | List], Count, Sum, _) -> add(List, Count + 1, Sum + X, X);
add([], Count, Sum, Last) -> {Count, Sum, Last}.

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

%% --- W4 ----------------------------------------------------------------------

%% These are in weir_peer.c.
load() ->
    erlang:load_nif(filename:rootname(code:which(?MODULE)) ++ "_nif", 0).

work(_, _) -> erlang:nif_error(not_loaded).
work_ns(_, _) -> erlang:nif_error(not_loaded).
cpu_ns() -> erlang:nif_error(not_loaded).

-record(jobs, {main, steps, items, queue, left, count = 0, sum = 0}).

%% A job is the item it does next, how many it has done, and their sum.
jobs(Who, Window, Workers, Items, Steps) ->
    N = min(?QUEUE, Items),
    Jobs = #jobs{
        main = self(),
        steps = Steps,
        items = Items,
        queue = queue:from_list([{Next, 0, 0} || Next <- lists:seq(0, N - 1)]),
        left = N
    },
    WorkNs = work_ns(Steps, Workers),
    Manager = spawn(fun() ->
        receive
            start when Who =:= "erlang" -> manage(Jobs, Window);
            start when Who =:= "erlang.pool" -> manage_pool(Jobs, Window)
        end
    end),
    CpuNs = cpu_ns(),
    Start = now_ns(),
    Manager ! start,
    answer(Start) ++ [cpu_ns() - CpuNs, round(WorkNs * Items)].

%% Room: how many more may be under way.
manage(#jobs{left = 0} = Jobs, _) ->
    all_ended(Jobs);
manage(Jobs, 0) ->
    await(Jobs, 0);
manage(#jobs{queue = Queue0, steps = Steps} = Jobs, Room) ->
    case queue:out(Queue0) of
        {{value, Job}, Queue} ->
            Manager = self(),
            spawn(fun() -> Manager ! do(Job, Steps) end),
            manage(Jobs#jobs{queue = Queue}, Room - 1);
        {empty, _} ->
            await(Jobs, Room)
    end.

await(Jobs, Room) ->
    receive
        Job -> manage(again(Job, Jobs), Room + 1)
    end.

manage_pool(#jobs{steps = Steps} = Jobs, Window) ->
    Manager = self(),
    Pids = [
        spawn(fun() -> serve(Manager, Steps) end)
     || _ <- lists:seq(1, Window)
    ],
    manage_pool(lists:foldl(fun employ/2, Jobs, Pids)),
    [exit(Pid, kill) || Pid <- Pids].

manage_pool(#jobs{left = 0} = Jobs) ->
    all_ended(Jobs);
manage_pool(Jobs) ->
    receive
        {Pid, Job} -> manage_pool(employ(Pid, again(Job, Jobs)))
    end.

%% Without a job it has had its last: who ends one brings one.
employ(Pid, #jobs{queue = Queue0} = Jobs) ->
    case queue:out(Queue0) of
        {{value, Job}, Queue} ->
            Pid ! Job,
            Jobs#jobs{queue = Queue};
        {empty, _} ->
            Jobs
    end.

serve(Manager, Steps) ->
    receive
        Job ->
            Manager ! {self(), do(Job, Steps)},
            serve(Manager, Steps)
    end.

do({Next, Count, Sum}, Steps) ->
    {Next + ?QUEUE, Count + 1, Sum + work(Next, Steps)}.

%% Queues again what goes on.
again({Next, _, _} = Job, #jobs{items = Items} = Jobs) when Next < Items ->
    Jobs#jobs{queue = queue:in(Job, Jobs#jobs.queue)};
again({_, Count, Sum}, Jobs) ->
    Jobs#jobs{
        left = Jobs#jobs.left - 1,
        count = Jobs#jobs.count + Count,
        sum = Jobs#jobs.sum + Sum
    }.

all_ended(#jobs{main = Main, count = Count, sum = Sum}) ->
    ended(Main, Count, Sum, 0).
