package actions

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
)

// FromText converts an argument that was typed in a form or on a command line to its JSON
// value.
func (x Argument) FromText(text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, fault.New(fault.Invalid, "The argument %q is not valid UTF-8.", x.Name)
	}
	switch x.Type {
	case TypeKey, TypePattern, TypeBounds, TypeCuts, TypeZones, TypePlans:
		if json.Valid([]byte(text)) {
			return json.RawMessage(strings.TrimSpace(text)), nil
		}
		rewritten, err := shardkey.ShellToJSON(text)
		if err != nil {
			return nil, fault.New(fault.Invalid, "The argument %q must be JSON or as in mongosh, such as %s; %q is not. %s", x.Name,
				x.sample(), sanitize.Truncate(text, 40), fault.Text(err))
		}
		return json.RawMessage(rewritten), nil
	case TypeCount:
		if x.Zero != "" && strings.EqualFold(strings.TrimSpace(text), x.Zero) {
			return json.Marshal(0)
		}
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, fault.New(fault.Invalid, "The argument %q must be a number; %q is not.", x.Name, sanitize.Truncate(text, 40))
		}
		return json.Marshal(n)
	case TypeBool, TypeSwitch:
		b, err := strconv.ParseBool(strings.TrimSpace(text))
		if err != nil {
			return nil, fault.New(fault.Invalid, "The argument %q must be true or false; %q is neither.", x.Name, sanitize.Truncate(text, 40))
		}
		return json.Marshal(b)
	case TypeChunks:
		return json.Marshal(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }))
	case TypeProjects:
		return json.Marshal(listedNames(text))
	case TypeChoice, TypeDuration, TypeTime:
		return json.Marshal(strings.TrimSpace(text))
	}
	return json.Marshal(text) // names are kept as they are, even with spaces at their ends
}

// listedNames separates names at commas and line ends. Names may have spaces.
func listedNames(text string) []string {
	names := []string{}
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// sample returns an example of a value in JSON.
func (x Argument) sample() string {
	switch x.Type {
	case TypeBounds:
		return "[" + sampleKey + ", " + sampleKey + "]"
	case TypePattern:
		return samplePattern
	case TypeCuts:
		return `[{"min": …, "max": …, "at": …, "half": "upper", "to": "…"}]`
	case TypePlans:
		return `[{"kind": "pin", "args": {"project": "…", "shard": "…"}}]`
	case TypeZones:
		return `[{"min": …, "max": …, "zone": "…"}]`
	}
	return sampleKey
}

// Texts returns the given arguments in the form that FromText reads, by name.
func (a Args) Texts() map[string]string {
	out := map[string]string{}
	for _, x := range Arguments() {
		if !x.Given(a) {
			continue
		}
		raw := x.write(a)
		var text string
		var several []string
		switch {
		case raw == nil:
		case x.Type == TypeProjects && json.Unmarshal(raw, &several) == nil:
			out[x.Name] = strings.Join(several, ", ")
		case x.Type == TypeChunks && json.Unmarshal(raw, &several) == nil:
			out[x.Name] = strings.Join(several, " ")
		case json.Unmarshal(raw, &text) == nil:
			out[x.Name] = text
		default:
			out[x.Name] = string(raw)
		}
	}
	return out
}

// HideKeys returns the arguments with all shard keys replaced. References of chunks
// contain keys, so they are left out.
func (a Args) HideKeys(replace func(bson.Raw) bson.Raw) Args {
	for _, x := range Arguments() {
		switch p := x.field(&a).(type) {
		case *bson.Raw:
			if x.Type != TypePattern { // names of fields, no values
				*p = replace(*p)
			}
		case *[2]bson.Raw:
			*p = [2]bson.Raw{replace(p[0]), replace(p[1])}
		case *[]Cut:
			*p = slices.Clone(*p)
			for i := range *p {
				c := &(*p)[i]
				c.Min, c.Max, c.At = replace(c.Min), replace(c.Max), replace(c.At)
			}
		case *[]operation.KeyZone:
			*p = slices.Clone(*p)
			for i := range *p {
				z := &(*p)[i]
				z.Min, z.Max = replace(z.Min), replace(z.Max)
			}
		case *[]string:
			if x.Type == TypeChunks {
				*p = nil
			}
		case *[]PlannedChange:
			*p = slices.Clone(*p)
			for i := range *p {
				(*p)[i].Args = (*p)[i].Args.HideKeys(replace)
			}
		case *string:
			if x.Type == TypeChunk {
				*p = ""
			}
		}
	}
	return a
}

// CheckText refuses a text that is wrong for every cluster, as it is typed in a form or in a terminal.
func (x Argument) CheckText(text string) error {
	raw, err := x.FromText(text)
	if err != nil {
		return err
	}
	var a Args
	if err := x.read(raw, &a); err != nil {
		return err
	}
	return x.checkValue(&a)
}
