package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// listPage is one page of a list: its items, and the other fields in their order.
type listPage struct {
	items []json.RawMessage
	rest  []jsonField
	cut   bool // more items came than were asked for
	full  bool // as many came as the API lists at most, of a list without further pages
}

type jsonField struct {
	name  string
	value json.RawMessage
}

// splitList takes a list apart. field has the items.
func splitList(text []byte, field string) (listPage, error) {
	fields, err := jsonFields(text)
	var page listPage
	for _, f := range fields {
		if f.name == field {
			err = errors.Join(err, json.Unmarshal(f.value, &page.items))
			continue
		}
		page.rest = append(page.rest, f)
	}
	return page, fault.Wrap(fault.Unavailable, err, "The answer is not a list: the server may be of another version.")
}

// jsonFields are the fields of an object in their order.
func jsonFields(text []byte) ([]jsonField, error) {
	in := json.NewDecoder(bytes.NewReader(text))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("read JSON object: %w", errors.Join(err, errors.New("no object")))
	}
	var out []jsonField
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil, err
		}
		f := jsonField{name: fmt.Sprint(name)}
		if err := in.Decode(&f.value); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// next is the cursor of the next page; "" after the last.
func (p listPage) next() (cursor string) {
	p.read("next", &cursor)
	return cursor
}

// read reads one of the other fields; one that is missing or of another kind is left as it is.
func (p listPage) read(name string, into any) {
	for _, f := range p.rest {
		if f.name == name {
			_ = json.Unmarshal(f.value, into)
		}
	}
}

// jsonLines writes a list as the API does, with the items of all pages, as they come.
type jsonLines struct {
	w     io.Writer
	field string
	limit int
	begun bool
}

func (j *jsonLines) most() int { return j.limit }

func (j *jsonLines) page(items []json.RawMessage) error {
	for _, item := range items {
		before := ",\n    "
		if !j.begun {
			before = fmt.Sprintf("{\n  %q: [\n    ", j.field)
		}
		j.begun = true
		if _, err := io.WriteString(j.w, before+indented(item, "    ")); err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonLines) end(last listPage) error {
	text := "\n  ]"
	if !j.begun {
		text = fmt.Sprintf("{\n  %q: []", j.field)
	}
	for _, f := range last.rest {
		text += fmt.Sprintf(",\n  %s: %s", sanitize.Quoted(f.name), indented(f.value, "  "))
	}
	_, err := io.WriteString(j.w, text+"\n}\n")
	return err
}

// indented is JSON in several lines that cannot control a terminal.
func indented(text json.RawMessage, prefix string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, text, prefix, "  "); err != nil {
		return "null" // cannot happen: it was decoded
	}
	return sanitize.JSON(out.String())
}
