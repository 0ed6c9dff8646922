#!/bin/bash
# Writes the files that a document shows, those with file= behind the fence of their block, into a folder.
#   usage: bash .ci/write-files.sh DOCUMENT FOLDER
set -euo pipefail

awk -v folder="$2" '
  /^```.* file=/ { file = folder "/" substr($0, index($0, "file=") + 5); next }
  /^```$/ { if (file) close(file); file = ""; next }
  file { if (!(file in made)) { made[file] = 1; system("mkdir -p \"$(dirname \"" file "\")\"") } print > file }
' "$1"
