package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/vbatts/tar-split/tar/storage"
)

// TestLinesAreReadLikeJSON: what is read the short way is what a reader of JSON gives, and what is odd is left to that.
func TestLinesAreReadLikeJSON(t *testing.T) {
	var written bytes.Buffer
	p := storage.NewJSONPacker(&written)
	names := []string{"usr/bin/ls", "with \"quotes\"", "a<b>&c", "gr\u00fcn", "latin\xe9", "new\nline", "back\\slash", "./dot"}
	for _, name := range names {
		for _, size := range []int64{0, 7, 1 << 40} {
			var sum []byte
			if size > 0 {
				sum = []byte("12345678")
			}
			e := storage.Entry{Type: storage.FileType, Size: size, Payload: sum}
			e.SetName(name + string(rune('0'+size%10)))
			if _, err := p.AddEntry(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	short := 0
	for line := range bytes.Lines(written.Bytes()) {
		var want storage.Entry
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		have, ok := file(line)
		if !ok {
			continue
		}
		short++
		want.Position = 0
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s is read as %+v instead of %+v", line, have, want)
		}
	}
	if short != 9 {
		t.Errorf("%d of %d lines are read the short way", short, 3*len(names))
	}
	for _, odd := range []string{
		`{"type":1,"name":"a","size":1e3,"payload":"MTIz","position":1}`, `{"type":1,"name":"a","size":1,"payload":"MTIz","position":1,"name":"b"}`,
		`{"type":1,"name":"a`, `{"type":1,"name":"a","size":1`, `{"type":1,"name":"a","payload":"!","position":1}`, `{"type":1,"name":"a","position":1}`, "",
	} {
		if e, ok := file([]byte(odd + "\n")); ok {
			t.Errorf("%s is read as %+v", odd, e)
		}
	}
	if _, ok := segment([]byte(`{"type":2,"payload":"QQ==","position":1,"type":1}` + "\n")); ok {
		t.Error("a segment with more than its payload is read the short way")
	}
}
