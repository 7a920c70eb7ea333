// Package ids decodes ids: what an ObjectID or UUID reveals about when and where it was created,
// and what its form means for placement on a ranged and on a hashed shard key. It reads nothing.
package ids

import (
	"time"

	"shardboard/internal/message"
)

// Kind is the form of an id.
type Kind string

// The recognised forms.
const (
	ObjectID     Kind = "objectId"
	UUID1        Kind = "uuid1" // time, low bits first
	UUID3        Kind = "uuid3" // MD5 of a name
	UUID4        Kind = "uuid4" // random
	UUID5        Kind = "uuid5" // SHA-1 of a name
	UUID6        Kind = "uuid6" // version 1 with the high bits first
	UUID7        Kind = "uuid7" // Unix milliseconds first
	UUID8        Kind = "uuid8" // the generator's own layout
	UUIDLocality Kind = "uuidLocality"
	UUIDNil      Kind = "uuidNil"
	UUIDMax      Kind = "uuidMax"
	UUIDOther    Kind = "uuidOther" // no known version
)

// Inserts says which chunks take the inserts of ids of a form, made one after the other.
type Inserts string

// The effects of a form on inserts.
const (
	// LastChunk: each new id is greater than all before it, so a ranged key
	// sends every insert to the chunk that ends at MaxKey, on one shard.
	LastChunk Inserts = "lastChunk"
	// Spread: ids created one after the other are far apart in the key space.
	Spread Inserts = "spread"
	// Sweep: inserts walk through the whole key space again and again, one
	// chunk at a time (version 1: about 7 minutes a round).
	Sweep Inserts = "sweep"
	// Windowed: ids begin near a value that all generators share for a while, so inserts of that
	// time go to one chunk, then to another.
	Windowed Inserts = "windowed"
	// OneOf: either spread or windowed; the id does not show which.
	OneOf Inserts = "oneOf"
	// Undecided: the id does not show how the next one differs.
	Undecided Inserts = "undecided"
	// Even: the hash of an id is independent of its order.
	Even Inserts = "even"
)

// Part is one field of an id: its hexadecimal digits [From, To), hyphens not counted. Value is
// plain ASCII.
type Part struct {
	Name     string // a code; Label has it in words
	Value    string
	From, To int
}

// Anatomy is a decoded id.
type Anatomy struct {
	Kind   Kind
	Text   string    // canonical: 24 hex digits, or a UUID in lower case
	Time   time.Time // creation time in UTC; zero if the form has none
	Parts  []Part
	Ranged Inserts // on a ranged shard key
	Hashed Inserts // on a hashed shard key
	Notes  []message.Message
}

func (a *Anatomy) part(name, value string, from, to int) {
	a.Parts = append(a.Parts, Part{Name: name, Value: value, From: from, To: to})
}

func (a *Anatomy) note(code, pattern string, facts ...message.Fact) {
	a.Notes = append(a.Notes, message.New(code, pattern, facts...))
}

// made sets the time and notes whether it is plausible: ids are also written by hand, by tests and
// with wrong clocks. Plausible times are after MongoDB's first year and at most a day ahead.
func (a *Anatomy) made(at, now time.Time) {
	a.Time = at.UTC()
	switch {
	case a.Time.Year() < 2007:
		a.note("timeBefore", "The time is before MongoDB existed: the id was written by hand or with a wrong clock.")
	case a.Time.After(now.Add(24 * time.Hour)):
		a.note("timeAhead", "The time is in the future: the id was written by hand or with a wrong clock.")
	}
}
