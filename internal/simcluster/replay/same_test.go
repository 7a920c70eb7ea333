package replay

import (
	"fmt"
	"regexp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// correspondence pairs what the recorded server made up with what ours did. It is
// one to one: a recorded value always stands for the same one of ours, and two
// different values for two different ones.
type correspondence struct {
	ours, theirs map[string]string // by type and bytes
}

func newCorrespondence() *correspondence {
	return &correspondence{ours: make(map[string]string), theirs: make(map[string]string)}
}

func token(v bson.RawValue) string { return string(append([]byte{byte(v.Type)}, v.Value...)) }

// pair notes that a recorded value stands for one of ours, or says why it can't.
func (c *correspondence) pair(recorded, got bson.RawValue) string {
	if recorded.Type != got.Type {
		return fmt.Sprintf("is a %s, recorded a %s", got.Type, recorded.Type)
	}
	switch recorded.Type {
	case bson.TypeString:
		return c.text(recorded.StringValue(), got.StringValue())
	case bson.TypeNull:
		return ""
	case bson.TypeArray:
		r, _ := recorded.Array().Values()
		g, _ := got.Array().Values()
		if len(r) != len(g) {
			return fmt.Sprintf("has %d items, recorded %d", len(g), len(r))
		}
		for i := range r {
			if why := c.pair(r[i], g[i]); why != "" {
				return why
			}
		}
		return ""
	}
	if !c.bind(token(recorded), token(got)) {
		return fmt.Sprintf("is %s, which does not correspond to the recorded %s", got, recorded)
	}
	if oid, ok := recorded.ObjectIDOK(); ok {
		// The same ids appear inside of texts.
		c.bind(oid.Hex(), got.ObjectID().Hex())
	}
	if _, u, ok := recorded.BinaryOK(); ok && len(u) == 16 {
		_, g := got.Binary()
		c.bind(uuidText(u), uuidText(g))
	}
	if t, i, ok := recorded.TimestampOK(); ok {
		gt, gi := got.Timestamp()
		c.bind(stampText(t, i), stampText(gt, gi))
	}
	return ""
}

func (c *correspondence) bind(recorded, got string) bool {
	if ours, known := c.ours[recorded]; known {
		return ours == got
	}
	if _, taken := c.theirs[got]; taken {
		return false
	}
	c.ours[recorded], c.theirs[got] = got, recorded
	return true
}

func uuidText(u []byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

func stampText(t, i uint32) string { return fmt.Sprintf("Timestamp(%d, %d)", t, i) }

// madeUp are the parts of a text that a server made up.
var madeUp = regexp.MustCompile(`\b[0-9a-f]{24}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|Timestamp\(\d+, \d+\)|new Date\(\d+\)|\b(vm|sim)\b`)

// text pairs the made-up parts of two texts; the rest must be equal.
func (c *correspondence) text(recorded, got string) string {
	r, g := madeUp.FindAllString(recorded, -1), madeUp.FindAllString(got, -1)
	if madeUp.ReplaceAllString(recorded, "*") != madeUp.ReplaceAllString(got, "*") || len(r) != len(g) {
		return fmt.Sprintf("is %q, recorded %q", got, recorded)
	}
	for i := range r {
		if !c.bind(r[i], g[i]) {
			return fmt.Sprintf("is %q, where %s does not correspond to %s of %q", got, g[i], r[i], recorded)
		}
	}
	return ""
}

// translate puts our values in place of the recorded ones that are known: a command
// that names a uuid asks for the collection that stands for it here.
func (c *correspondence) translate(v bson.RawValue) any {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		out := bson.D{}
		elements, _ := v.Document().Elements()
		for _, e := range elements {
			out = append(out, bson.E{Key: e.Key(), Value: c.translate(e.Value())})
		}
		return out
	case bson.TypeArray:
		out := bson.A{}
		values, _ := v.Array().Values()
		for _, x := range values {
			out = append(out, c.translate(x))
		}
		return out
	case bson.TypeBinary, bson.TypeTimestamp:
		if ours, ok := c.ours[token(v)]; ok {
			return bson.RawValue{Type: v.Type, Value: []byte(ours[1:])}
		}
	}
	return v
}

// stands is what a recorded value is here, itself when nothing is known of it.
func (c *correspondence) stands(v bson.RawValue) string {
	if ours, ok := c.ours[token(v)]; ok {
		return ours
	}
	return token(v)
}

// short cuts a text for a failure message.
func short(s string) string {
	if s = strings.TrimSpace(s); len(s) > 400 {
		return s[:400] + "…"
	}
	return s
}
