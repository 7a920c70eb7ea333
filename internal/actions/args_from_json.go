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

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// maxText is the highest length of a text in an argument, in bytes.
const maxText = 4096

// ReadArgs reads arguments from a JSON object; nil and null are no arguments. Unknown
// arguments and values of the wrong type are refused. Whether the kind takes the
// arguments is checked when it is planned. Errors are fault.Invalid.
func ReadArgs(raw json.RawMessage) (Args, error) { return readArgs(raw, Arguments()) }

// readArgs reads arguments from a JSON object, those of a list.
func readArgs(raw json.RawMessage, all []Argument) (Args, error) {
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
	for _, name := range slices.Sorted(maps.Keys(given)) {
		// Letter case is ignored, as in the rest of a request.
		as := name
		if strings.EqualFold(name, argChunks.Name) && isNumber(given[name]) {
			as = argInitialChunks.Name // reshard: how many chunks, not which
		}
		i := slices.IndexFunc(all, func(x Argument) bool { return strings.EqualFold(x.Name, as) })
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

func isNumber(raw json.RawMessage) bool {
	var n json.Number
	return len(raw) > 0 && raw[0] != '"' && json.Unmarshal(raw, &n) == nil && n != ""
}

// read stores a JSON value in its field of the arguments.
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
			return fault.New(fault.Invalid, "The argument %q must be a duration such as 720h; %q is not one.", x.Name, sanitize.Truncate(text, 40))
		}
	case *bson.Raw:
		if x.Type == TypePattern {
			*p, err = readPattern(x.Name, raw)
			return err
		}
		*p, err = readKey(x.Name, raw)
	case *[2]bson.Raw:
		*p, err = readBounds(x.Name, raw)
	case *[]Cut:
		*p, err = readCuts(x.Name, raw)
	case *[]PlannedChange:
		*p, err = readPlans(x.Name, raw)
	case *[]operation.KeyZone:
		*p, err = readZones(x.Name, raw)
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
	default: // numbers and booleans
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

// readValue decodes a JSON value. The error names the argument if the type is wrong.
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

// checkText refuses texts that cannot be a name in a cluster.
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

// readKey reads a shard-key value in Extended JSON; nil for null.
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
		return out, fault.Wrap(fault.Invalid, err, `The argument %q must be [min, max] or {"min": …, "max": …}.`, name)
	case len(pair) != 2 || len(pair[0]) == 0 || len(pair[1]) == 0:
		return out, fault.New(fault.Invalid, "The argument %q must be two keys, [min, max].", name)
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

	Pieces int `json:"pieces,omitempty"`
}

func readCuts(name string, raw json.RawMessage) ([]Cut, error) {
	var list []cutJSON
	if err := readValue(name, raw, &list); err != nil {
		return nil, err
	}
	var cuts []Cut
	for i, in := range list {
		at := name + "[" + strconv.Itoa(i) + "]."
		out := Cut{Half: in.Half, To: in.To, Pieces: in.Pieces}
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
