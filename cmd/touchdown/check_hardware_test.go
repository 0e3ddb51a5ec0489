package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"touchdown/backend/check"
)

// TestCheckHardwareByAnOrder: the verdict comes first, a profile's limits are the ones that are told, and a sheet that is wrong ends
// the command before anything is looked at.
func TestCheckHardwareByAnOrder(t *testing.T) {
	root := smallMachine(t)
	file := filepath.Join(t.TempDir(), "order.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte("apiVersion: touchdown.dev/v1alpha1\nkind: OrderSheet\nname: A-17\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("minimum: {memoryGiB: 77}\n")
	code, text, said := checkLine(t.Context(), t, root, "hardware", "--order", file)
	if code != exitFailed || said != "" || !strings.HasPrefix(text, "This machine is NOT fit: Memory") {
		t.Errorf("%d, %q:\n%s", code, said, text)
	}
	_, document, _ := checkLine(t.Context(), t, root, "hardware", "--order", file, "-o", "json")
	var got checked
	if err := json.NewDecoder(strings.NewReader(document)).Decode(&got); err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Checks {
		if c.ID == "hw-memory" && (c.Expected.String() != "at least 77 GiB" || c.Source.String() != "order sheet A-17") {
			t.Errorf("%+v", c)
		}
	}
	write("minimum: {memory: 77}\n")
	if code, text, said := checkLine(t.Context(), t, root, "hardware", "--order", file); code != exitUsage || text != "" || !strings.Contains(said, "memory") || !strings.Contains(said, "line 4") {
		t.Errorf("%d, %q, %q", code, text, said)
	}
}

// TestCheckHardwareWithADiskTest asks for the test on a machine that has no place for it.
func TestCheckHardwareWithADiskTest(t *testing.T) {
	root := smallMachine(t)
	_, document, said := checkLine(t.Context(), t, root, "hardware", "--disk-test", "-o", "json")
	if code, _, said := checkLine(t.Context(), t, root, "hardware", "--disk-test", "--watch"); code != exitUsage || !strings.Contains(said, "--watch") {
		t.Errorf("again and again: %d, %q", code, said)
	}
	var got checked
	if err := json.NewDecoder(strings.NewReader(document)).Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if last := got.Checks[len(got.Checks)-1]; last.ID != "hw-disk-latency" || last.Status != check.Skip || !strings.Contains(last.Observed.String(), "no /var/lib") {
		t.Errorf("%+v", last)
	}
}
