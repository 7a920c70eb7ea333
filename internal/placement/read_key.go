package placement

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// givenKey is what a pasted key says of a collection's shard key.
type givenKey struct {
	values  []bson.RawValue // of the leading fields
	ignored []string        // other fields of the document
	// measured are fields of the key that are taken from those of a measurement.
	measured bool
	// timeAt is the place of the time of a measurement among the values, -1 without one. Its bucket begins
	// at most as long before it as buckets span.
	timeAt int
}

func (k givenKey) spans() bool { return k.timeAt >= 0 }

// readKey reads the values of the leading fields of a shard key from what people paste: a key or a whole
// document, whose other fields are ignored, as Extended JSON or as mongosh prints it; or the bare value of
// the only field. A dotted field can stand under its name or nested. Of a time series, a measurement can
// be given, or the key of a bucket.
func readKey(m topology.Meta, text string) (givenKey, error) {
	out := givenKey{timeAt: -1}
	doc, err := shardkey.ParseKey(text)
	if err != nil && m.Key.Len() == 1 {
		// A bare value: {"$oid": …} or "abc" rather than {"project_id": …}.
		if wrapped, werr := shardkey.ParseKey(`{"v":` + text + `}`); werr == nil {
			out.values = []bson.RawValue{wrapped.Lookup("v")}
			return out, nil
		}
	}
	if err != nil {
		return out, err
	}
	used := map[string]bool{}
	for i, f := range m.Key.Fields() {
		v, top, ok := shardkey.GivenField(doc, f.Name)
		if name, isTime, is := m.Series.Measured(f.Name); !ok && is {
			if v, top, ok = shardkey.GivenField(doc, name); ok {
				out.measured = true
				if isTime {
					out.timeAt = i
				}
			}
		}
		if !ok {
			break
		}
		used[top], out.values = true, append(out.values, v)
	}
	if len(out.values) == 0 {
		return out, fault.New(fault.Invalid, "The key must have the leading fields of the shard key %s.", m.Key)
	}
	elements, err := doc.Elements()
	if err != nil {
		return out, fault.Wrap(fault.Invalid, err, "This is not a document.")
	}
	for _, e := range elements {
		if !used[e.Key()] {
			out.ignored = append(out.ignored, e.Key())
		}
	}
	return out, nil
}

// maxIgnored is how many ignored fields are named.
const maxIgnored = 10

func (k givenKey) notes(m topology.Meta) (out []message.Message) {
	if n := len(k.ignored); n > 0 {
		more := ""
		if n > maxIgnored {
			more = ", …"
		}
		out = append(out, message.New("note.fieldsIgnored", "Only the fields of the shard key {key} count; ignored: {fields}.",
			message.Text("key", m.Key.String()), message.Text("fields", strings.Join(k.ignored[:min(n, maxIgnored)], ", ")+more)))
	}
	if k.measured {
		out = append(out, message.New("note.timeSeries", "A measurement of the time series {name} is in a bucket of {ns}: "+
			"meta in the key is the field {field}.", message.Text("name", string(topology.SeriesName(m.NS))),
			message.Namespace("ns", m.NS), message.Text("field", m.Series.MetaField)))
	}
	return out
}

// aroundTime is the place of a measurement whose time is in the key: of every chunk that its bucket can be in.
func (p *Place) aroundTime(t *topology.Table, c *topology.Collection, k givenKey) error {
	at, ok := k.values[k.timeAt].TimeOK()
	if !ok {
		return fault.New(fault.Invalid, "%s of a measurement is a date: write {%q: {\"$date\": \"2026-01-31T12:00:00Z\"}}.",
			c.Series.TimeField, c.Series.TimeField)
	}
	prefix := k.values[:k.timeAt]
	r, err := c.Key.PrefixRange(prefix...)
	if err != nil {
		return err
	}
	if last, err := c.Key.PrefixRange(append(slices.Clone(prefix), k.values[k.timeAt])...); err == nil {
		r.Max = last.Max
	}
	if span := time.Duration(c.Series.Span()) * time.Second; span > 0 {
		kind, data, err := bson.MarshalValue(at.Add(-span))
		if err != nil {
			return err
		}
		if first, err := c.Key.PrefixRange(append(slices.Clone(prefix), bson.RawValue{Type: kind, Value: data})...); err == nil {
			r.Min = first.Min
		}
	}
	p.Sharded, p.Pattern = true, c.Key
	if err := p.hashOf(c.Key, prefix); err != nil {
		return err
	}
	from, to := c.Chunks.Overlap(r)
	p.among(t, c, from, to)
	return nil
}
