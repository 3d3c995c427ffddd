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

say() { # CHAT ID TEXT: sends a message and waits for the whole answer
  curl -fsN "http://127.0.0.1:$port/api/chat" -H 'Content-Type: application/json' \
    -d "{\"id\":\"$1\",\"trigger\":\"submit-message\",\"messages\":[{\"id\":\"$1-$2\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"$3\"}]}]}" >/dev/null
}
picture() { # CHAT LANGUAGE FILE
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$profile/$2" --lang="$2" --accept-lang="$2" --window-size=1100,820 \
    --virtual-time-budget=4000 --screenshot="docs/images/$3" "http://127.0.0.1:$port/#/c/$1" 2>/dev/null
}
say picture one "use a tool"
say picture two "show streaming"
picture picture en chat.png
curl -fs -X DELETE "http://127.0.0.1:$port/api/chat/picture"
say zh-picture one "使用工具"
say zh-picture two "流式演示"
picture zh-picture zh-CN zh-chat.png
ls docs/images/*.png
