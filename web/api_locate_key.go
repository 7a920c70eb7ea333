package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// A program that routes by shard-key value asks ?ns=&key= for every row it has.
// Finding the chunk takes a microsecond; writing the answer through
// encoding/json, which walks it three times, took thirty. So this one answer is
// written by hand. It is the same, byte for byte, as the general one: a test
// asks for both.

// writeKeyAnswer answers a question by namespace and shard-key value alone.
// It declines, with false, whatever says more than one place of one key.
func (s *Site) writeKeyAnswer(w http.ResponseWriter, r *http.Request, q url.Values, a placement.Answer) bool {
	if len(q) != 2 || len(q["ns"]) != 1 || len(q["key"]) != 1 || !plainKeyAnswer(a) || wantsCSV(r) {
		return false
	}
	if p := a.Items[0].Places[0]; movingIn(s.viewFor(r), p.NS, placeRange(p)) != nil {
		return false
	}
	at, stale := directoryAsOf(s.viewFor(r))
	b := make([]byte, 0, 1024)
	b = appendKeyItem(append(b, `{"items":[`...), &a.Items[0])
	b = appendTime(append(b, `],"asOf":`...), at)
	b = strconv.AppendBool(append(b, `,"stale":`...), stale)
	b = append(b, `,"input":[{"form":`...)
	b = appendText(b, string(a.Input.Readings[0].Form))
	b = append(b, `}],"cost":{"targeted":0,"broadcast":0},"anatomy":[]}`+"\n"...)
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b)
	return true
}

var jsonType = []string{"application/json; charset=utf-8"} // never changed: send copies it

// plainKeyAnswer tells whether an answer has nothing but what is written here.
func plainKeyAnswer(a placement.Answer) bool {
	if len(a.Items) != 1 || len(a.Anatomy) > 0 || a.Cost != (placement.Cost{}) || a.Input.KeyShaped ||
		len(a.Input.Readings) != 1 || a.Input.Readings[0] != (placement.Reading{Form: placement.FormShardKey}) {
		return false
	}
	it := &a.Items[0]
	return it.Project == nil && len(it.Notes) == 0 && len(it.Places) == 1
}

func appendKeyItem(b []byte, it *placement.Item) []byte {
	b = appendText(append(b, `{"kind":`...), it.Kind)
	b = appendText(append(b, `,"id":`...), it.ID)
	b = appendText(append(b, `,"name":`...), it.Name)
	b = appendText(append(b, `,"db":`...), it.DB)
	b = strconv.AppendBool(append(b, `,"project":"","projectName":"","removed":`...), it.Removed)
	p := &it.Places[0]
	answer := headlineOf(api.LocateItem{Kind: it.Kind, Places: []api.Place{{NS: string(p.NS), Shards: p.Shards, Exact: p.Exact, State: p.Exists}}})
	b = appendText(append(b, `,"answer":`...), answer.sentence())
	return append(appendPlace(append(b, `,"places":[`...), p), `]}`...)
}

func appendPlace(b []byte, p *placement.Place) []byte {
	b = appendText(append(b, `{"ns":`...), string(p.NS))
	b = appendText(append(b, `,"what":`...), p.What)
	b = strconv.AppendBool(append(b, `,"sharded":`...), p.Sharded)
	shard := ""
	if len(p.Shards) == 1 {
		shard = p.Shards[0]
	}
	b = appendText(append(b, `,"shard":`...), shard)
	b = append(b, `,"shards":[`...)
	for i, name := range p.Shards {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, name)
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
		b = appendTime(b, time.Unix(int64(p.Since.T), 0).UTC())
	} else {
		b = append(b, "null"...)
	}
	b = appendText(append(b, `,"zone":`...), p.Zone)
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
	return append(appendText(append(b, `,"state":`...), p.Exists), '}')
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
			return appendGeneral(b, keyOf(p, k))
		}
	}
	return append(b, text...)
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
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

func appendTime(b []byte, t time.Time) []byte {
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
