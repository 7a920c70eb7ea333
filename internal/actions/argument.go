package actions

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"shardboard/internal/fault"
)

// ArgumentType says what an argument is: how it is written in JSON and as text, and which
// field a form has for it.
type ArgumentType string

// The types. A value of TypeCollection or TypeShard is looked up in the table before a
// plan is made, and refused if it does not exist.
const (
	TypeCollection ArgumentType = "collection"    // namespace of a sharded collection with known chunks
	TypeNamespace  ArgumentType = "namespace"     // database.collection, sharded or not
	TypeKey        ArgumentType = "shard key"     // document in Extended JSON
	TypeBounds     ArgumentType = "bounds"        // [min, max] or {"min": …, "max": …}, two shard keys
	TypeChunk      ArgumentType = "chunk"         // reference of a chunk
	TypeChunks     ArgumentType = "chunks"        // references of several chunks
	TypeCuts       ArgumentType = "cuts"          // list of Cut
	TypePlans      ArgumentType = "plans"         // list of PlannedChange
	TypeProjects   ArgumentType = "projects"      // ids, exact names or public keys
	TypePattern    ArgumentType = "key pattern"   // of a shard key, as Extended JSON
	TypeZones      ArgumentType = "zones"         // list of KeyZone
	TypeShard      ArgumentType = "shard"         // name of a shard
	TypeZone       ArgumentType = "zone"          // name of a zone
	TypeProject    ArgumentType = "project"       // id, exact name or public key
	TypeDatabase   ArgumentType = "database"      // name of a database
	TypeChoice     ArgumentType = "choice"        // one of Choices
	TypeBool       ArgumentType = "true or false" // must be given
	TypeSwitch     ArgumentType = "switch"        // true or false; false when omitted
	TypeCount      ArgumentType = "count"         // whole number from Least to Most
	TypeDuration   ArgumentType = "duration"      // such as 720h
	TypeTime       ArgumentType = "time of day"   // HH:MM
	TypeText       ArgumentType = "text"
)

// Argument describes one argument of a kind of change. JSON, forms, flags of the command
// line, the OpenAPI description and docs/change-kinds.md follow from it.
type Argument struct {
	Name     string // in JSON, on the command line and in forms
	Type     ArgumentType
	Label    string   // of its field in a form
	Help     string   // a sentence that begins with what it is
	Choices  []Choice // of TypeChoice: all values; of other types: the values that a form offers
	Empty    string   // what omitting it means, in a list of a form; "" if the list does not offer that
	Default  string   // of TypeChoice
	Least    int      // of TypeCount
	Most     int      // of TypeCount
	Zero     string   // of TypeCount: a word for 0 in text; "" for none
	Required bool
	Or       []string // alternatives: if one of them is given, this one is not required
	Subject  bool     // what is changed: a form shows it as text if its address names one that exists
	Unasked  bool     // not a field of forms; shown if the address of the form has it

	field func(*Args) any // pointer to where the value is kept
}

// Choice is a value and what it means.
type Choice struct{ Value, Text string }

// Given reports whether the arguments have it.
func (x Argument) Given(a Args) bool { return !reflect.ValueOf(x.field(&a)).Elem().IsZero() }

// These vary a shared argument for one kind.
func (x Argument) needed() Argument            { x.Required = true; return x }
func (x Argument) about() Argument             { x.Subject = true; return x }
func (x Argument) entered() Argument           { x.Subject = false; return x }
func (x Argument) unasked() Argument           { x.Unasked = true; return x }
func (x Argument) asked() Argument             { x.Unasked = false; return x }
func (x Argument) withoutDefault() Argument    { x.Default, x.Empty = "", "the default"; return x }
func (x Argument) or(names ...string) Argument { x.Or = names; return x }
func (x Argument) of(t ArgumentType) Argument  { x.Type = t; return x }
func (x Argument) help(text string) Argument   { x.Help = text; return x }
func (x Argument) choosing(label, help, yes, no string) Argument {
	x.Label, x.Help, x.Choices = label, help, []Choice{{"true", yes}, {"false", no}}
	return x
}
func (x Argument) emptyMeans(text string) Argument { x.Empty = text; return x }

// checkValue refuses a value that is wrong for every cluster.
func (x Argument) checkValue(a *Args) error {
	switch p := x.field(a).(type) {
	case *int:
		return x.checkCount(*p)
	case **int:
		return x.checkCount(**p)
	case *string:
		switch {
		case x.Type == TypeChoice && !slices.ContainsFunc(x.Choices, func(c Choice) bool { return c.Value == *p }):
			return fault.New(fault.Invalid, "The argument %q is %q; it must be %s.", x.Name, *p, x.choices())
		case x.Type == TypeTime && !clockTime.MatchString(*p):
			return fault.New(fault.Invalid, "The argument %q is not a time of day; write it as HH:MM, from 00:00 to 23:59.", x.Name)
		}
	}
	return nil
}

func (x Argument) checkCount(n int) error {
	if n < x.Least || n > x.Most {
		return fault.New(fault.Invalid, "The argument %q is %d; it must be a number from %d to %d.", x.Name, n, x.Least, x.Most)
	}
	return nil
}

// choices lists the values for a sentence.
func (x Argument) choices() string {
	var out []string
	for _, c := range x.Choices {
		out = append(out, fmt.Sprintf("%q", c.Value))
	}
	text := strings.Join(out, " or ")
	if !x.Required && x.Default == "" {
		text += ", or omitted"
	}
	return text
}

// missing returns the error that a kind requires it.
func (x Argument) missing(kind Kind) error {
	return missing(kind, x.Name, strings.TrimSuffix(lowerFirst(x.Help), "."))
}

func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}
