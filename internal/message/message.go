// Package message holds sentences for people: an English pattern and the facts
// in it, each with its type. Whoever computes a fact writes the sentence, once;
// a page links the shards and namespaces in it, the command line and the API
// print the same words as plain text.
//
// A Message is plain data. It is stored with plans and runs, so its JSON form
// stays readable: unknown kinds of facts are shown as text.
package message

import (
	"slices"
	"strings"
	"time"

	"shardboard/internal/format"
)

// Message is one sentence. The zero value says nothing.
type Message struct {
	Code    string `json:"code,omitempty"` // names the sentence for tests and scripts; never shown
	Pattern string `json:"pattern"`        // English, with the names of facts in braces: "Zone {zone} has no shard."
	Facts   []Fact `json:"facts,omitempty"`
}

// New makes a message. Facts that the pattern does not name are kept: scripts
// read them through Args.
func New(code, pattern string, facts ...Fact) Message {
	return Message{Code: code, Pattern: pattern, Facts: facts}
}

// Plural is one for a count of 1, many otherwise.
func Plural[N ~int | ~int32 | ~int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// IsZero tells that there is nothing to say.
func (m Message) IsZero() bool { return m.Code == "" && m.Pattern == "" }

// With is the message with a fact added, or replaced if it has one of that name.
func (m Message) With(f Fact) Message {
	m.Facts = slices.Clone(m.Facts)
	if i := slices.IndexFunc(m.Facts, func(o Fact) bool { return o.Name == f.Name }); i >= 0 {
		m.Facts[i] = f
	} else {
		m.Facts = append(m.Facts, f)
	}
	return m
}

// Fact is the fact of a name; ok is false when there is none.
func (m Message) Fact(name string) (f Fact, ok bool) {
	i := slices.IndexFunc(m.Facts, func(o Fact) bool { return o.Name == name })
	if i < 0 {
		return Fact{}, false
	}
	return m.Facts[i], true
}

// Args are the facts' values by name, as scripts read them; nil without facts.
func (m Message) Args() map[string]string {
	if len(m.Facts) == 0 {
		return nil
	}
	out := make(map[string]string, len(m.Facts))
	for _, f := range m.Facts {
		out[f.Name] = f.Value
	}
	return out
}

// Part is a piece of a sentence: words, or a fact as people read it.
type Part struct {
	Text string
	Fact Fact // the zero Fact for words
}

// Parts are the sentence in order. Values never count as patterns, whatever
// they contain. A name without a fact stays as it is written.
func (m Message) Parts(now time.Time) []Part {
	var out []Part
	rest := m.Pattern
	if rest == "" {
		rest = m.Code // of a record that has no words
	}
	for {
		from := strings.IndexByte(rest, '{')
		if from < 0 {
			break
		}
		to := strings.IndexByte(rest[from:], '}')
		if to < 0 {
			break
		}
		f, ok := m.Fact(rest[from+1 : from+to])
		if !ok {
			out = append(out, Part{Text: rest[:from+to+1]})
		} else {
			if from > 0 {
				out = append(out, Part{Text: rest[:from]})
			}
			out = append(out, Part{Text: f.Text(now), Fact: f})
		}
		rest = rest[from+to+1:]
	}
	if rest != "" {
		out = append(out, Part{Text: rest})
	}
	return out
}

// At is the sentence as plain text on one line, with ages as of now.
func (m Message) At(now time.Time) string {
	var b strings.Builder
	for _, p := range m.Parts(now) {
		b.WriteString(p.Text)
	}
	return b.String()
}

// String is the sentence as plain text. Ages of facts made by Since are
// written as the time since when.
func (m Message) String() string { return m.At(time.Time{}) }

// Text writes a fact for people. Without now (the zero time) an age is written
// as a time.
func (f Fact) Text(now time.Time) string {
	if f.Kind == KindSince && !now.IsZero() {
		if at, err := time.Parse(time.RFC3339, f.Value); err == nil {
			return format.Span(now.Sub(at))
		}
	}
	return f.text()
}
