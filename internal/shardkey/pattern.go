package shardkey

import (
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// maxFields is the largest number of fields of an index, and so of a shard key.
const maxFields = 32

// Field is one field of a shard key pattern.
type Field struct {
	Name   string // dotted path
	Hashed bool
}

// Pattern is a shard key pattern such as {project_id: 1, _id: "hashed"}.
// Immutable; the zero Pattern has no fields.
type Pattern struct {
	fields []Field
	hiding *Hiding // nil: texts show key values
}

// ParsePattern reads config.collections.key: fields with 1 (of any number type) or
// "hashed", at most one of the latter. Patterns that no server accepts are
// fault.Invalid (s/shard_key_pattern.cpp, parseShardKeyPattern).
func ParsePattern(raw bson.Raw) (Pattern, error) {
	rest, err := elementsOf(raw)
	if err != nil {
		return Pattern{}, fault.Wrap(fault.Invalid, err, "The shard key pattern is not well-formed BSON.")
	}
	var p Pattern
	for len(rest) > 0 {
		var e element
		if e, rest, err = next(rest); err != nil {
			return Pattern{}, fault.Wrap(fault.Invalid, err, "The shard key pattern is not well-formed BSON.")
		}
		f := Field{Name: string(e.name)}
		if !validPath(f.Name) {
			return Pattern{}, fault.New(fault.Invalid, "%q is not a field path that a shard key can have.", f.Name)
		}
		switch {
		case e.typ == bson.TypeString && string(text(e.value)) == "hashed":
			f.Hashed = true
		case !isOne(e):
			return Pattern{}, fault.New(fault.Invalid, "The shard key field %q must be 1 or \"hashed\".", f.Name)
		}
		if f.Hashed && p.Hashed() >= 0 {
			return Pattern{}, fault.New(fault.Invalid, "A shard key can have one hashed field only; %q is the second.", f.Name)
		}
		if slices.ContainsFunc(p.fields, func(o Field) bool { return o.Name == f.Name }) {
			return Pattern{}, fault.New(fault.Invalid, "The shard key names the field %q twice.", f.Name)
		}
		if len(p.fields) == maxFields {
			return Pattern{}, fault.New(fault.Invalid, "A shard key can have at most %d fields.", maxFields)
		}
		p.fields = append(p.fields, f)
	}
	if len(p.fields) == 0 {
		return Pattern{}, fault.New(fault.Invalid, "A shard key needs at least one field.")
	}
	return p, nil
}

// validPath refuses empty parts and parts that begin with a dollar sign.
func validPath(path string) bool {
	for part := range strings.SplitSeq(path, ".") {
		if part == "" || part[0] == '$' {
			return false
		}
	}
	return true
}

// isOne reports whether a number is 1 after dropping its fraction, as the
// server's numberInt() == 1 does.
func isOne(e element) bool {
	switch e.typ {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		n, ok := hashedInt64(e.typ, e.value)
		return ok && n == 1
	}
	return false
}

// Fields are the fields in order; do not modify them.
func (p Pattern) Fields() []Field { return p.fields }

// Len is the number of fields.
func (p Pattern) Len() int { return len(p.fields) }

// LeadsWith reports whether this is the first field and not hashed, so that rows with
// the same value of it are adjacent. False for "".
func (p Pattern) LeadsWith(field string) bool {
	return field != "" && len(p.fields) > 0 && p.fields[0].Name == field && !p.fields[0].Hashed
}

// LeadsWithHash reports whether this is the first field and hashed: rows with the same value of it are adjacent, in the
// range of one hash. False for "".
func (p Pattern) LeadsWithHash(field string) bool {
	return field != "" && len(p.fields) > 0 && p.fields[0].Name == field && p.fields[0].Hashed
}

// IsZero reports whether there is no pattern at all.
func (p Pattern) IsZero() bool { return len(p.fields) == 0 }

// Hashed is the position of the hashed field, -1 if there is none.
func (p Pattern) Hashed() int {
	return slices.IndexFunc(p.fields, func(f Field) bool { return f.Hashed })
}

// Equal reports whether both have the same fields in the same order.
func (p Pattern) Equal(o Pattern) bool { return slices.Equal(p.fields, o.fields) }

// String is the pattern as mongosh writes it: {project_id: 1, _id: "hashed"}.
func (p Pattern) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range p.fields {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(displayName(f.Name))
		if f.Hashed {
			b.WriteString(`: "hashed"`)
		} else {
			b.WriteString(": 1")
		}
	}
	b.WriteByte('}')
	return b.String()
}

// Raw is the pattern as a document, the form that commands take.
func (p Pattern) Raw() bson.Raw {
	doc := beginDocument(nil)
	for _, f := range p.fields {
		if f.Hashed {
			doc = appendElement(doc, bson.TypeString, f.Name, []byte("\x07\x00\x00\x00hashed\x00"))
		} else {
			doc = appendElement(doc, bson.TypeInt32, f.Name, []byte{1, 0, 0, 0})
		}
	}
	return endDocument(doc, 0)
}

// displayName quotes a name that is not a plain identifier, as JavaScript does: it
// is part of commands too.
func displayName(name string) string {
	for i, c := range name {
		letter := c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return sanitize.Quoted(name)
		}
	}
	if name == "" || len(name) > math.MaxUint8 {
		return sanitize.Quoted(name)
	}
	return name
}
