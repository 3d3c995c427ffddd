#!/bin/sh
# Installs the npm packages that TestClient, TestReactExample, TestConsole and the tests of
# MCP servers (TestMCPExamples and others) drive, at the versions of the lock
# files. It does nothing where they are there already.
set -eu
cd "$(dirname "$0")"
for folder in . ../../../../docs/examples/react; do
  if [ ! -f "$folder/node_modules/.package-lock.json" ] || [ "$folder/package-lock.json" -nt "$folder/node_modules/.package-lock.json" ]; then
    npm ci --prefix "$folder" --ignore-scripts --loglevel=error
  fi
done
