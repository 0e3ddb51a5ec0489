#!/bin/bash
# mkmachineconfig.sh MODULE IMAGE FOLDER: renders the Machine Config Operator's templates into FOLDER/root.
set -euo pipefail
module=$1 image=$2 folder=$3

rm -rf "$folder" && mkdir -p "$folder"
# The build fetches the operator's module too, and checks it against go.sum.
CGO_ENABLED=0 go build -C "$module" -o "$(realpath "$folder")/machineconfig" .
source=$(go list -C "$module" -m -f '{{.Dir}}' github.com/openshift/machine-config-operator)
"$folder/machineconfig" "$source/templates" "$image" "$folder/root"
rm "$folder/machineconfig"
