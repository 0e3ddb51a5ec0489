package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// Marshal is a document for a file of the node: JSON with the English texts, and their messages in the member "messages", so that each
// console shows them in its language later.
func Marshal(document any) ([]byte, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("encoding a document: %w", err)
	}
	if found := Of(document); found != nil {
		messages, err := json.Marshal(found)
		if err != nil {
			return nil, fmt.Errorf("encoding its messages: %w", err)
		}
		data = fmt.Appendf(bytes.TrimSuffix(data, []byte("}")), `,"messages":%s}`, messages)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, fmt.Errorf("indenting a document: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// Unmarshal reads what Marshal wrote. A text without a message is one of a release that kept English alone: a technical detail.
func Unmarshal(data []byte, document any) error {
	var with struct {
		Messages Messages `json:"messages"`
	}
	if err := json.Unmarshal(data, document); err != nil {
		return fmt.Errorf("reading a document: %w", err)
	}
	if err := json.Unmarshal(data, &with); err != nil {
		return fmt.Errorf("reading the messages of a document: %w", err)
	}
	Restore(document, with.Messages)
	walk(reflect.ValueOf(document), "", func(_ string, v reflect.Value) {
		if t, ok := v.Interface().(Text); ok && v.CanSet() {
			v.Set(reflect.ValueOf(OrVerbatim(t)))
		}
	})
	return nil
}
