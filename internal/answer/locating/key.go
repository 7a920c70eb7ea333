package locating

import (
	"encoding/json"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// JSONType is the content type of JSON.
var JSONType = []string{"application/json; charset=utf-8"} // never changed: send copies it

// PlainKeyAnswer reports whether an answer has nothing but what is written here.
func PlainKeyAnswer(a placement.Answer) bool {
	if len(a.Items) != 1 || len(a.Anatomy) > 0 || a.Cost != (placement.Cost{}) || a.Input.KeyShaped ||
		len(a.Input.Readings) != 1 || a.Input.Readings[0] != (placement.Reading{Form: placement.FormShardKey}) {
		return false
	}
	it := &a.Items[0]
	return it.Project == nil && len(it.Notes) == 0 && len(it.Places) == 1 && it.Places[0].Damage == nil &&
		it.Places[0].Missing == nil
}

// AppendKeyItem appends a found key as JSON.
func AppendKeyItem(b []byte, it *placement.Item) []byte {
	b = AppendText(append(b, `{"kind":`...), it.Kind)
	b = AppendText(append(b, `,"id":`...), it.ID)
	b = AppendText(append(b, `,"name":`...), it.Name)
	b = AppendText(append(b, `,"db":`...), it.DB)
	b = strconv.AppendBool(append(b, `,"project":"","projectName":"","removed":`...), it.Removed)
	p := &it.Places[0]
	headline := headlineOf(
		api.LocateItem{Kind: it.Kind, Places: []api.Place{{NS: string(p.NS), Shards: p.Shards, Exact: p.Exact, State: p.Exists}}},
	)
	b = AppendText(append(b, `,"answer":`...), headline.String())
	return append(appendPlace(append(b, `,"places":[`...), p), `]}`...)
}

func appendPlace(b []byte, p *placement.Place) []byte {
	b = AppendText(append(b, `{"ns":`...), string(p.NS))
	b = AppendText(append(b, `,"what":`...), p.What)
	b = strconv.AppendBool(append(b, `,"sharded":`...), p.Sharded)
	shard := ""
	if len(p.Shards) == 1 {
		shard = p.Shards[0]
	}
	b = AppendText(append(b, `,"shard":`...), shard)
	b = append(b, `,"shards":[`...)
	for i, name := range p.Shards {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendText(b, name)
	}
	b = strconv.AppendBool(append(b, `],"exact":`...), p.Exact)
	b = strconv.AppendInt(append(b, `,"chunks":`...), int64(p.Chunks), 10)
	b = appendKey(append(b, `,"min":`...), p.Pattern, p.Min)
	b = appendKey(append(b, `,"max":`...), p.Pattern, p.Max)
	b = appendKey(append(b, `,"key":`...), p.Pattern, p.Key)
	b = append(b, `,"hash":`...)
	if p.Hash != nil {
		b = append(strconv.AppendInt(append(b, '"'), *p.Hash, 10), '"')
	} else {
		b = append(b, "null"...)
	}
	return appendPlaceState(b, p)
}

func appendPlaceState(b []byte, p *placement.Place) []byte {
	b = append(b, `,"version":`...)
	if p.Version != (topology.Version{}) {
		b = strconv.AppendUint(append(b, `{"major":`...), uint64(p.Version.Major), 10)
		b = append(strconv.AppendUint(append(b, `,"minor":`...), uint64(p.Version.Minor), 10), '}')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"since":`...)
	if p.Since.T != 0 {
		b = AppendTime(b, time.Unix(int64(p.Since.T), 0).UTC())
	} else {
		b = append(b, "null"...)
	}
	b = AppendText(append(b, `,"zone":`...), p.Zone)
	b = strconv.AppendBool(append(b, `,"jumbo":`...), p.Jumbo)
	b = append(b, `,"exists":`...)
	switch p.Exists {
	case "yes":
		b = append(b, "true"...)
	case "absent":
		b = append(b, "false"...)
	default:
		b = append(b, "null"...)
	}
	return append(AppendText(append(b, `,"state":`...), p.Exists), '}')
}

// appendKey appends a key as Extended JSON, or null. What is not plain ASCII
// goes the general way, which replaces and escapes what JSON in a page must not
// have.
func appendKey(b []byte, p shardkey.Pattern, k shardkey.Key) []byte {
	if p.IsZero() || k.IsZero() {
		return append(b, "null"...)
	}
	text := p.ExtJSON(k)
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '<' || c == '>' || c == '&' {
			return appendGeneral(b, answer.KeyOf(p, k))
		}
	}
	return append(b, text...)
}

// AppendText appends a JSON string.
func AppendText(b []byte, s string) []byte {
	start := len(b)
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == '<' || c == '>' || c == '&' {
			return appendGeneral(b[:start], s)
		}
		if c == '"' || c == '\\' {
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '"')
}

// AppendTime appends a time as JSON.
func AppendTime(b []byte, t time.Time) []byte {
	if y := t.Year(); y < 0 || y > 9999 {
		return appendGeneral(b, t)
	}
	return append(t.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// appendGeneral appends anything as encoding/json writes it; null for what it
// cannot, which no text, key or time of ours is.
func appendGeneral(b []byte, v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, out...)
}
