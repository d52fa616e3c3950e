# Sourced by bench/measure: figures of hubs on PostgreSQL. What is compared takes turns of a few seconds, so that what else the machine
# does meets both, and a run is one number: a ratio, a time or a rate.
#
# HUB_SECONDS=4 HUB_TURNS=3  of each side in a run
# TAKEN_OVER=10000  tasks of the hub that is killed

source bench/postgresql.sh
hub_seconds=${HUB_SECONDS:-4}
hub_turns=${HUB_TURNS:-3}
taken_over=${TAKEN_OVER:-10000}
declare -A hubs=()
postgresql_port=$((port + 9))

# hub_at NAME PORT OPTIONS...: starts a hub on a data directory of that name, pinned if COMMAND_OF_HUBS says so.
command_of_hubs=()
hub_at() {
    local name=$1 at=$2 log=bench/target/hub-$1.log
    shift 2
    "${command_of_hubs[@]}" ./parley up --port "$at" --data "$data-$name" --agents "$agents" "$@" >"$log" 2>&1 &
    hubs[$name]=$!
    for _ in $(seq 600); do
        kill -0 "${hubs[$name]}" 2>/dev/null || break
        curl -fs -o /dev/null "http://127.0.0.1:$at/ready" && return
        sleep 0.1
    done
    say "hub $name did not start:"
    cat "$log" >&2
    exit 1
}

stop_hubs() {
    local name
    for name in "${!hubs[@]}"; do
        kill "${hubs[$name]}" 2>/dev/null && wait "${hubs[$name]}" 2>/dev/null || true
    done
    hubs=()
    stop_postgresql
}
trap 'stop; stop_hubs' EXIT

# share_secrets NAME OTHER: gives a hub that has not started the secrets of another one.
share_secrets() {
    rm -rf "$data-$2" bench/target/secrets.json
    ./parley secrets export bench/target/secrets.json --data "$data-$1" >/dev/null
    ./parley secrets import bench/target/secrets.json --data "$data-$2" >/dev/null
    rm bench/target/secrets.json
}

# sent PORT CONNECTIONS: durable messages a second.
sent() {
    ./parley bench send --url "http://127.0.0.1:$1/agents/echo" --connections "$2" --warmup 1 --seconds "$hub_seconds" -o json |
        sed -n 's/.*"requestsPerSecond":\([0-9.]*\).*/\1/p'
}

median() { sort -g | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

# ratio FIGURE RUN PORT BASE: messages a second of the hub at a port, as a share of those of another one, which take turns.
ratio() {
    local turn
    value "$1" "$2" "$(for turn in $(seq "$hub_turns"); do
        awk "BEGIN { printf \"%.3f\n\", 1 / ($(sent "$4" 64) / $(sent "$3" 64)) }"
    done | median)"
}

# statements SECONDS: those of the hubs in that time, a second.
statements() {
    sql 'SELECT pg_stat_statements_reset()' >/dev/null
    sleep "$1"
    sql "SELECT round((sum(calls) - 1.0) / $1, 2) FROM pg_stat_statements"
}

of_hubs=(postgresql-share cluster-share)
if wants "${of_hubs[@]}"; then
    rm -rf "$data"-{sqlite,lone,member}
    start_postgresql "$postgresql_port" "${pinned[@]}"
    sql 'CREATE DATABASE shared'
    command_of_hubs=("${pinned[@]}")
    hub_at sqlite "$port"
    hub_at lone $((port + 1)) --database "$postgresql"
    hub_at member $((port + 2)) --cluster --database "${postgresql%/*}/shared"
    say "warming up"
    for at in "$port" $((port + 1)) $((port + 2)); do sent "$at" 64 >/dev/null; done
    for run in $(seq "$repeats"); do
        wants postgresql-share && ratio postgresql-share "$run" $((port + 1)) "$port"
        wants cluster-share && ratio cluster-share "$run" $((port + 2)) $((port + 1))
    done
    stop_hubs
    command_of_hubs=()
fi

of_cluster=(hubs-share remote-event idle-statements idle-stream-statements takeover-10000)
if wants "${of_cluster[@]}"; then
    rm -rf "$data"-{one,other}
    start_postgresql "$postgresql_port"
    hub_at one "$port" --cluster --database "$postgresql"
    for run in $(seq "$repeats"); do
        if wants idle-statements idle-stream-statements; then
            sleep 15 # until what a start leaves to do is done
            without=$(statements 20)
            value idle-statements "$run" "$without"
            ./parley bench stream --idle --url "$url/agents/input-required" --connections 500 --seconds 60 -o json \
                >bench/target/idle.json &
            idle=$!
            sleep 30 # all are open by then
            value idle-stream-statements "$run" "$(awk "BEGIN { printf \"%.3f\", ($(statements 20) - $without) / 500 }")"
            wait "$idle" || true
        fi
    done
    share_secrets one other
    hub_at other $((port + 1)) --cluster --database "$postgresql"
    say "warming up"
    sent "$port" 64 >/dev/null
    sent $((port + 1)) 64 >/dev/null
    for run in $(seq "$repeats"); do
        if wants hubs-share; then
            # Both have the same callers: 64 at one hub, or 32 at each of two.
            value hubs-share "$run" "$(for turn in $(seq "$hub_turns"); do
                alone=$(sent "$port" 64)
                sent $((port + 1)) 32 >bench/target/beside &
                here=$(sent "$port" 32)
                wait $!
                awk "BEGIN { printf \"%.3f\n\", ($here + $(cat bench/target/beside)) / $alone }"
            done | median)"
        fi
        if wants remote-event; then
            "$JAVA_HOME/bin/java" -XX:+UseSerialGC -cp "$bench_classpath" dev.parley.bench.RemoteEvents \
                "$url/agents/ticking" "http://127.0.0.1:$((port + 1))/agents/ticking" 500 >"$runs/remote-event.$run.json"
            say "remote-event $run: $(cat "$runs/remote-event.$run.json")"
        fi
    done
    for run in $(seq "$repeats"); do
        if wants takeover-10000; then
            [ "$run" = 1 ] || hub_at one "$port" --cluster --database "$postgresql"
            # A task that waits for its caller has no owner.
            echo '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"0000000000000000",' \
                '"role":"ROLE_USER","parts":[{"text":"hello"}]},"configuration":{"returnImmediately":true}}}' >bench/target/lasting
            ./parley bench call --agent-url "$url/agents/lasting" --bodies bench/target/lasting --connections 64 --warmup 0 \
                --requests "$taken_over" --seconds 600 -o json >/dev/null
            killed=$(sql 'SELECT stream_no FROM stream WHERE stream_no IN (SELECT owner FROM task) ORDER BY
                (SELECT count(*) FROM task WHERE owner = stream_no) DESC LIMIT 1')
            number=$(sql "SELECT hub_no FROM stream WHERE stream_no = $killed")
            say "$(sql "SELECT count(*) FROM task WHERE owner = $killed") tasks of a hub that is killed"
            kill -9 "${hubs[one]}"
            wait "${hubs[one]}" 2>/dev/null || true
            value takeover-10000 "$run" "$(sql "CREATE FUNCTION pg_temp.awaited() RETURNS NUMERIC LANGUAGE plpgsql AS \$\$
                BEGIN
                    FOR i IN 1 .. 6000 LOOP
                        IF NOT EXISTS (SELECT 1 FROM task WHERE owner = $killed) THEN
                            RETURN (SELECT round(extract(epoch FROM clock_timestamp() - ended_at), 3) FROM hub WHERE hub_no = $number);
                        END IF;
                        PERFORM pg_sleep(0.01);
                    END LOOP;
                    RAISE 'tasks are left';
                END\$\$;
                SELECT pg_temp.awaited()")"
            sql 'UPDATE task SET owner = NULL WHERE owner IS NOT NULL' # the next run takes over its own
        fi
    done
    stop_hubs
fi
