package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxText bounds a text in an argument, in bytes.
const maxText = 4096

// ReadArgs reads arguments from a JSON object; nil and null are none. An argument
// of no kind is refused, and so is a value of another type. Whether a kind takes
// the arguments is checked when it is planned. Errors are fault.Invalid.
func ReadArgs(raw json.RawMessage) (Args, error) {
	var a Args
	if len(raw) == 0 {
		return a, nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return a, fault.Wrap(fault.Invalid, err, `"args" is not a JSON object.`)
		}
		return a, fault.Wrap(fault.Invalid, err, `"args" is not a JSON object of arguments: %s.`, sanitize.Truncate(err.Error(), 120))
	}
	all := Arguments()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		// Letter case does not count, as in the rest of a request.
		i := slices.IndexFunc(all, func(x Argument) bool { return strings.EqualFold(x.Name, name) })
		if i < 0 {
			return a, fault.New(fault.Invalid, "There is no argument %q.", sanitize.Truncate(name, 40))
		}
		if bytes.Equal(given[name], []byte("null")) {
			continue
		}
		if err := all[i].read(given[name], &a); err != nil {
			return a, err
		}
	}
	return a, nil
}

// read takes a JSON value into its place in the arguments.
func (x Argument) read(raw json.RawMessage, a *Args) error {
	var text string
	var err error
	switch p := x.field(a).(type) {
	case *topology.Namespace:
		err = x.readText(raw, (*string)(p))
	case *string:
		err = x.readText(raw, p)
	case *time.Duration:
		if err = x.readText(raw, &text); err != nil || text == "" {
			return err
		}
		if *p, err = time.ParseDuration(text); err != nil || *p <= 0 {
			return fault.New(fault.Invalid, "The argument %q is a duration such as 720h; %q is not.", x.Name, sanitize.Truncate(text, 40))
		}
	case *bson.Raw:
		*p, err = readKey(x.Name, raw)
	case *[2]bson.Raw:
		*p, err = readBounds(x.Name, raw)
	case *[]Cut:
		*p, err = readCuts(x.Name, raw)
	case *[]string:
		var texts []string
		if err = readValue(x.Name, raw, &texts); err != nil || len(texts) == 0 {
			return err
		}
		for i, text := range texts {
			if err := checkText(x.Name+"["+strconv.Itoa(i)+"]", text); err != nil {
				return err
			}
		}
		*p = texts
	default: // numbers and truth values
		err = readValue(x.Name, raw, p)
	}
	return err
}

func (x Argument) readText(raw json.RawMessage, into *string) error {
	if err := readValue(x.Name, raw, into); err != nil {
		return err
	}
	return checkText(x.Name, *into)
}

// readValue decodes a JSON value and names the argument when it has another type.
func readValue(name string, raw json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		if wrong.Field != "" { // in an element of a list
			name += "." + wrong.Field
		}
		return fault.Wrap(fault.Invalid, err, "The argument %q is not of the right JSON type; found %s.", name, wrong.Value)
	}
	return fault.Wrap(fault.Invalid, err, "The argument %q cannot be read: %s.", name, sanitize.Truncate(err.Error(), 120))
}

// checkText refuses texts that nothing in a cluster is called.
func checkText(name, s string) error {
	switch {
	case len(s) > maxText:
		return fault.New(fault.Invalid, "The argument %q is longer than %d bytes.", name, maxText)
	case !utf8.ValidString(s):
		return fault.New(fault.Invalid, "The argument %q is not valid UTF-8.", name)
	case strings.ContainsRune(s, 0):
		return fault.New(fault.Invalid, "The argument %q contains a NUL character.", name)
	}
	return nil
}

// readKey reads a shard-key value in Extended JSON; null is none.
func readKey(name string, raw json.RawMessage) (bson.Raw, error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil, nil
	}
	doc, err := shardkey.ParseExtJSON(string(raw))
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err,
			"The argument %q is not a shard-key value in Extended JSON, such as %s.", name, sampleKey)
	}
	return doc, nil
}

const sampleKey = `{"project_id": {"$oid": "…"}}`

// readBounds reads [min, max] or {"min": …, "max": …}.
func readBounds(name string, raw json.RawMessage) (out [2]bson.Raw, err error) {
	var pair []json.RawMessage
	if bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		var named struct{ Min, Max json.RawMessage }
		err = json.Unmarshal(raw, &named)
		pair = []json.RawMessage{named.Min, named.Max}
	} else {
		err = json.Unmarshal(raw, &pair)
	}
	switch {
	case err != nil:
		return out, fault.Wrap(fault.Invalid, err, `The argument %q is [min, max] or {"min": …, "max": …}.`, name)
	case len(pair) != 2 || len(pair[0]) == 0 || len(pair[1]) == 0:
		return out, fault.New(fault.Invalid, "The argument %q is two keys, [min, max].", name)
	}
	for i, end := range []string{"min", "max"} {
		if out[i], err = readKey(name+"."+end, pair[i]); err != nil {
			return out, err
		}
	}
	return out, nil
}

// cutJSON is a Cut in JSON.
type cutJSON struct {
	Min  json.RawMessage `json:"min"`
	Max  json.RawMessage `json:"max"`
	At   json.RawMessage `json:"at"`
	Half string          `json:"half"`
	To   string          `json:"to"`
}

func readCuts(name string, raw json.RawMessage) ([]Cut, error) {
	var list []cutJSON
	if err := readValue(name, raw, &list); err != nil {
		return nil, err
	}
	var cuts []Cut
	for i, in := range list {
		at := name + "[" + strconv.Itoa(i) + "]."
		out := Cut{Half: in.Half, To: in.To}
		for _, text := range []struct{ name, value string }{{"half", in.Half}, {"to", in.To}} {
			if err := checkText(at+text.name, text.value); err != nil {
				return nil, err
			}
		}
		for _, key := range []struct {
			name string
			from json.RawMessage
			into *bson.Raw
		}{{"min", in.Min, &out.Min}, {"max", in.Max, &out.Max}, {"at", in.At, &out.At}} {
			var err error
			if *key.into, err = readKey(at+key.name, key.from); err != nil {
				return nil, err
			}
		}
		cuts = append(cuts, out)
	}
	return cuts, nil
}

// JSON is the arguments that are given as an object that ReadArgs reads, in the
// order of Arguments.
func (a Args) JSON() json.RawMessage {
	out := []byte{'{'}
	for _, x := range Arguments() {
		if !x.Given(a) {
			continue
		}
		value := x.write(a)
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, x.Name), ':'), value...)
	}
	return append(out, '}')
}

// write is the value of an argument that is given; nil when it cannot be written.
func (x Argument) write(a Args) json.RawMessage {
	var value any
	switch p := x.field(&a).(type) {
	case *time.Duration:
		value = p.String()
	case *bson.Raw:
		value = keyJSON(*p)
	case *[2]bson.Raw:
		if p[0] == nil || p[1] == nil {
			return nil
		}
		value = []json.RawMessage{keyJSON(p[0]), keyJSON(p[1])}
	case *[]Cut:
		var list []cutJSON
		for _, c := range *p {
			list = append(list, cutJSON{Min: keyJSON(c.Min), Max: keyJSON(c.Max), At: keyJSON(c.At), Half: c.Half, To: c.To})
		}
		value = list
	default:
		value = p
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}

// keyJSON is a document as canonical Extended JSON. Strings of a cluster may hold
// bytes that are not UTF-8; JSON cannot, so they become replacement characters.
func keyJSON(doc bson.Raw) json.RawMessage {
	if len(doc) == 0 {
		return nil
	}
	text, err := bson.MarshalExtJSON(doc, true, false)
	if err != nil {
		return nil
	}
	if raw := json.RawMessage(strings.ToValidUTF8(string(text), "\ufffd")); json.Valid(raw) {
		return raw
	}
	return nil
}
