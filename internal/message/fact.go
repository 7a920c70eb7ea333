package message

import (
	"strconv"
	"strings"
	"time"

	"shardboard/internal/format"
	"shardboard/internal/sanitize"
)

// Kind says what a fact is, so that a page can link and format it.
type Kind string

// The kinds of facts.
const (
	KindText      Kind = "text"      // somebody else's text: names, errors; shown on one line with invisible characters escaped
	KindServer    Kind = "server"    // text of a MongoDB server; it may quote data, and is hidden from those who may not see that
	KindWords     Kind = "words"     // our own words, shown as they are
	KindShard     Kind = "shard"     // a shard's name
	KindNamespace Kind = "namespace" // database.collection
	KindZone      Kind = "zone"      // a zone's name
	KindProject   Kind = "project"   // a project's id
	KindKey       Kind = "key"       // a shard-key value or bound; hidden from those who may not see key values
	KindCount     Kind = "count"     // a whole number
	KindBytes     Kind = "bytes"     // a size in bytes
	KindShare     Kind = "share"     // a part of 1
	KindRate      Kind = "rate"      // per second
	KindTime      Kind = "time"      // RFC 3339, shown in UTC
	KindSince     Kind = "since"     // RFC 3339, shown as an age
	KindDuration  Kind = "duration"  // a Go duration
)

// Fact is a named value of a sentence. Value is what scripts read: numbers in
// decimal, times in RFC 3339, names as they are. Shown replaces it for people,
// where a name says more than an id.
type Fact struct {
	Name  string `json:"name"`
	Kind  Kind   `json:"kind,omitempty"`
	Value string `json:"value"`
	Shown string `json:"shown,omitempty"`
}

// Text is text that somebody else wrote; it is shown on one line.
func Text(name, value string) Fact { return Fact{name, KindText, value, ""} }

// Server is text that a MongoDB server wrote.
func Server(name, value string) Fact { return Fact{name, KindServer, value, ""} }

// Words are our own words, such as a sentence within a sentence.
func Words(name, value string) Fact { return Fact{name, KindWords, value, ""} }

// Coded is one of our codes, shown in our own words.
func Coded(name, code, words string) Fact { return Fact{name, KindWords, code, words} }

// Shard is a shard's name.
func Shard(name, shard string) Fact { return Fact{name, KindShard, shard, ""} }

// Namespace is database.collection.
func Namespace[S ~string](name string, ns S) Fact { return Fact{name, KindNamespace, string(ns), ""} }

// Zone is a zone's name.
func Zone(name, zone string) Fact { return Fact{name, KindZone, zone, ""} }

// Project is a project's id, shown as its name if that is known.
func Project(name, id, shown string) Fact { return Fact{name, KindProject, id, shown} }

// Key is a shard-key value or a bound.
func Key(name, key string) Fact { return Fact{name, KindKey, key, ""} }

// Count is a whole number.
func Count[N ~int | ~int32 | ~int64](name string, n N) Fact {
	return Fact{name, KindCount, strconv.FormatInt(int64(n), 10), ""}
}

// Bytes is a size.
func Bytes(name string, n int64) Fact { return Fact{name, KindBytes, strconv.FormatInt(n, 10), ""} }

// Share is a part of 1.
func Share(name string, f float64) Fact {
	return Fact{name, KindShare, strconv.FormatFloat(f, 'g', -1, 64), ""}
}

// Rate is a number per second.
func Rate(name string, f float64) Fact {
	return Fact{name, KindRate, strconv.FormatFloat(f, 'g', -1, 64), ""}
}

// Time is a moment, shown in UTC.
func Time(name string, t time.Time) Fact { return Fact{name, KindTime, format.Stamp(t), ""} }

// Since is a moment, shown as the time that has passed since then.
func Since(name string, t time.Time) Fact { return Fact{name, KindSince, format.Stamp(t), ""} }

// Duration is a length of time, shown in one unit.
func Duration(name string, d time.Duration) Fact { return Fact{name, KindDuration, d.String(), ""} }

// Last is a duration that ends now, as people write it after "the last": "5 min", but "minute".
func Last(name string, d time.Duration) Fact {
	if d >= time.Minute && d < 2*time.Minute { // which is written as 1 min
		return Coded(name, d.String(), "minute")
	}
	return Duration(name, d)
}

// text writes a value as people read it. A value that is not of its kind, as
// an older record may have, is shown as text.
func (f Fact) text() string {
	if f.Shown != "" {
		return sanitize.Line(f.Shown)
	}
	switch f.Kind {
	case KindWords:
		return f.Value
	case KindCount:
		if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
			return format.Count(n)
		}
	case KindBytes:
		if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
			return format.Bytes(n)
		}
	case KindShare:
		if v, err := strconv.ParseFloat(f.Value, 64); err == nil {
			return format.Share(v)
		}
	case KindRate:
		if v, err := strconv.ParseFloat(f.Value, 64); err == nil {
			return format.Rate(v)
		}
	case KindTime, KindSince:
		if at, err := time.Parse(time.RFC3339, f.Value); err == nil {
			return at.UTC().Format("2006-01-02 15:04:05") + " UTC"
		}
	case KindDuration:
		if d, err := time.ParseDuration(f.Value); err == nil {
			return format.Span(d)
		}
	}
	return sanitize.Line(strings.ToValidUTF8(f.Value, "\uFFFD"))
}
