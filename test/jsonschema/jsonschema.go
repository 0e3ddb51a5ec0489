// Package jsonschema holds the published JSON schemas to what the program reads and writes: each names every key that there is,
// and no other.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"touchdown/backend/message"
)

// Compile reads a schema. A strict one refuses keys that it does not name.
func Compile(t testing.TB, schema string, strict bool) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	if strict {
		closeObjects(doc)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closeObjects refuses further keys in every object of a schema that says nothing about them.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, says := v["additionalProperties"]; v["type"] == "object" && !says {
			v["additionalProperties"] = false
		}
		for _, below := range v {
			closeObjects(below)
		}
	case []any:
		for _, below := range v {
			closeObjects(below)
		}
	}
}

// Judge tells what a schema refuses in a JSON document.
func Judge(t testing.TB, s *jsonschema.Schema, document []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// Whole wants the documents, in which together nothing is left out, to have every key that the schema names, and no other.
func Whole(t testing.TB, schema string, documents ...[]byte) {
	t.Helper()
	strict := Compile(t, schema, true)
	var s any
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	named(s, "", missing)
	for _, document := range documents {
		if err := Judge(t, strict, document); err != nil {
			t.Errorf("the schema refuses it: %v\n%s", err, document)
		}
		var v any
		if err := json.Unmarshal(document, &v); err != nil {
			t.Fatal(err)
		}
		seen(s, v, "", missing)
	}
	if len(missing) > 0 {
		t.Errorf("the schema names keys that no document has: %q", slices.Sorted(maps.Keys(missing)))
	}
}

// named collects the places of all keys that a schema names. What has any key is a place that ends with a star.
func named(schema any, place string, places map[string]bool) {
	s, _ := schema.(map[string]any)
	keys, _ := s["properties"].(map[string]any)
	for key, below := range keys {
		places[place+"/"+key] = true
		named(below, place+"/"+key, places)
	}
	if any, open := s["additionalProperties"].(map[string]any); open {
		places[place+"/*"] = true
		named(any, place+"/*", places)
	}
	if items, ok := s["items"]; ok {
		named(items, place+"/0", places)
	}
}

// seen takes the places of a document's keys out of a collection.
func seen(schema, document any, place string, places map[string]bool) {
	s, _ := schema.(map[string]any)
	switch v := document.(type) {
	case map[string]any:
		keys, _ := s["properties"].(map[string]any)
		for key, value := range v {
			below, known := keys[key]
			if !known {
				key, below = "*", s["additionalProperties"]
			}
			delete(places, place+"/"+key)
			seen(below, value, place+"/"+key, places)
		}
	case []any:
		for _, item := range v {
			seen(s["items"], item, place+"/0", places)
		}
	}
}

// Made is the time that Fill writes.
var Made = time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)

// Fill gives every field a value, every list and map one item. Texts are messages with an argument.
func Fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		Fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		Fill(v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		Fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), value)
	case reflect.Struct:
		fillStruct(v)
	}
}

func fillStruct(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(Made))
	case reflect.TypeFor[message.Text]():
		v.Set(reflect.ValueOf(message.F("%d of %d", 1, 2)))
	default:
		for i := range v.NumField() {
			Fill(v.Field(i))
		}
	}
}
