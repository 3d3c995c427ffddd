#!/usr/bin/env bash
# Makes the pictures of docs/images anew: the real binary, headless Chromium, and the demo
# model for chat.png. terminal.cast and terminal.svg are a session of TestRecording. The others
# are what TestPictures and TestConsolePictures of cmd/sma see, which need Node
# and a Chinese font.
set -euo pipefail
cd "$(dirname "$0")/../.."
fc-list :lang=zh | grep -q . || { echo "a Chinese font is missing, for example fonts-wqy-microhei" >&2; exit 1; }
cmd/sma/testdata/e2e/install.sh
PICTURES="$PWD/docs/images" REQUIRE_ALL=1 go test ./cmd/sma -count=1 -run '^Test((Console)?Pictures|Recording)$'
port=${PORT:-3917}
state=$(mktemp -d)
profile=$(mktemp -d)
go build -o "$state/sma" ./cmd/sma
"$state/sma" demo "$state/demo" --set "adapters.web.listen=127.0.0.1:$port" --set metrics.listen=off 2>"$state/log" &
host=$!
trap 'kill "$host"; wait "$host" || true; rm -rf "$state" "$profile"' EXIT
for _ in $(seq 100); do curl -fs "http://127.0.0.1:$port/livez" >/dev/null && break; read -rt 0.1 <> <(:) || true; done

say() { # ID TEXT: sends a message and waits for the whole answer
  curl -fsN "http://127.0.0.1:$port/api/chat" -H 'Content-Type: application/json' \
    -d "{\"id\":\"picture\",\"trigger\":\"submit-message\",\"messages\":[{\"id\":\"$1\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"$2\"}]}]}" >/dev/null
}
say one "use a tool"
say two "show streaming"
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$profile" --window-size=1100,820 --virtual-time-budget=4000 \
  --screenshot=docs/images/chat.png "http://127.0.0.1:$port/#/c/picture" 2>/dev/null
ls docs/images/*.png
