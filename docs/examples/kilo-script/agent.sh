#!/bin/sh
# An agent that wraps the Kilo CLI: ./agent.sh PROMPT prints the answer. It needs jq.
# It is told its configuration in AGENT_MODEL, AGENT_MODEL_SERVER and so on.
set -eu
umask 077

run=$(mktemp -d)
# What came from the run, in a session of its own too, is known by its HOME.
end_run() {
  for entry in $(grep -lsxz "HOME=$run/home" /proc/[0-9]*/environ || :); do
    pid=${entry#/proc/}
    kill -KILL "${pid%/environ}" 2>/dev/null || :
  done
}
trap 'end_run; rm -rf "$run"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
mkdir "$run/project" "$run/home" "$run/tmp"

server=
if [ "${AGENT_MODEL_SERVER:-null}" != null ]; then
  # A run inside a rollout calls the model below the path of that rollout.
  server=${AGENT_MODEL_SERVER%/v1}${AGENT_ROLLOUT:+/ng-rollout/$AGENT_ROLLOUT}/v1
fi

# The model server is provider nemo of kilo.json; what the configuration says of that provider stands too. Without one,
# the model is added to the provider that the configuration declares.
settings='
  ({limit: {context: $context, output: $output}}
    + if $field == "null" then {} else {interleaved: {field: $field}} end) as $limits
  | if $url != "" then
      {npm: "@ai-sdk/openai-compatible", name: "nemo", options: {apiKey: "none"},
       models: {($model): ({name: $model} + $limits)}} as $ours
      | .provider.nemo = ($ours * (.provider.nemo // {})) * {options: {baseURL: $url}}
    else
      ($model | split("/")) as [$own] | ($model | ltrimstr($own + "/")) as $name
      | if .provider[$own]? then
          .provider[$own].models = {($name): ({name: $name} + $limits)} + (.provider[$own].models // {})
        else . end
    end
  | if . == {} then empty else . end'
printf '%s' "${AGENT_KILO_CONFIG:-{\}}" | jq \
  --arg url "$server" --arg model "$AGENT_MODEL" --arg field "${AGENT_REASONING_FIELD-reasoning_content}" \
  --argjson context "${AGENT_CONTEXT_WINDOW:-32768}" --argjson output "${AGENT_MAX_OUTPUT_TOKENS:-8192}" \
  "$settings" > "$run/project/kilo.json"
[ -s "$run/project/kilo.json" ] || rm "$run/project/kilo.json"

# Nothing of the user's own Kilo leads the calls elsewhere, and no proxy gets them.
for name in $(env | sed -n 's/^\(\(KILO\|KILOCODE\|OPENCODE\|OPENAI\)_[A-Za-z0-9_]*\)=.*/\1/p'); do
  unset "$name"
done
home=$run/home
export XDG_CONFIG_HOME="$home/config" XDG_DATA_HOME="$home/data" XDG_CACHE_HOME="$home/cache" XDG_STATE_HOME="$home/state"
export TMPDIR="$run/tmp" KILO_DB=:memory: KILO_NO_DAEMON=1 KILO_DISABLE_AUTOUPDATE=1
export KILO_TELEMETRY_LEVEL=off KILO_DISABLE_MODELS_FETCH=1
export NO_PROXY=127.0.0.1,localhost,::1 no_proxy=127.0.0.1,localhost,::1
if [ -n "$server" ]; then
  export OPENAI_BASE_URL="$server" OPENAI_API_KEY=none
fi

prompt=$1
if [ "${AGENT_SYSTEM_PROMPT:-null}" != null ]; then
  prompt="$AGENT_SYSTEM_PROMPT

$1"
fi
HOME=$home timeout -k 1 "${AGENT_TIMEOUT:-600}" kilo run --auto --pure --format json -m "${server:+nemo/}$AGENT_MODEL" \
  --dir "$run/project" --thinking -- "$prompt" > "$run/events" < /dev/null &
status=0
wait "$!" || status=$?

# The answer is every text of the assistant; what is no event is passed over.
jq -Rrj 'fromjson? | objects | select((.role // .part.role // "assistant") == "assistant")
  | .part | objects | select(.type == "text") | .text // empty' "$run/events"
if [ "$status" -ne 0 ]; then
  echo "kilo ended with status $status; where it answered nothing, the output budget or the window may be too small" >&2
  exit 1
fi
if ! grep -q '"step-finish"' "$run/events"; then
  echo "kilo said nothing of a turn" >&2
  exit 1
fi
if grep -q '"reason":"length"' "$run/events"; then
  echo "the answer ended at the output budget" >&2
fi
