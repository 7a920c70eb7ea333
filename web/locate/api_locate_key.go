package locate

import (
	"net/http"
	"net/url"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/placement"
	"shardboard/web/site"
)

// A program that routes by shard-key value asks ?ns=&key= for every row it has.
// Finding the chunk takes a microsecond; writing the answer through
// encoding/json, which walks it three times, took thirty. So this one answer is
// written by hand. It is the same, byte for byte, as the general one: a test
// asks for both.

// writeKeyAnswer answers a question by namespace and shard-key value alone.
// It declines, with false, whatever says more than one place of one key.
func writeKeyAnswer(s *site.Site, w http.ResponseWriter, r *http.Request, q url.Values, a placement.Answer) bool {
	if len(q) != 2 || len(q["ns"]) != 1 || len(q["key"]) != 1 || !answer.PlainKeyAnswer(a) || site.WantsCSV(r) {
		return false
	}
	if p := a.Items[0].Places[0]; answer.MovingIn(s.ViewFor(r), p.NS, answer.PlaceRange(p)) != nil {
		return false
	}
	at, stale := answer.DirectoryAsOf(s.ViewFor(r))
	b := make([]byte, 0, 1024)
	b = answer.AppendKeyItem(append(b, `{"items":[`...), &a.Items[0])
	b = answer.AppendTime(append(b, `],"asOf":`...), at)
	b = strconv.AppendBool(append(b, `,"stale":`...), stale)
	b = append(b, `,"input":[{"form":`...)
	b = answer.AppendText(b, string(a.Input.Readings[0].Form))
	b = append(b, `}],"cost":{"targeted":0,"broadcast":0},"anatomy":[]}`+"\n"...)
	w.Header()["Content-Type"] = answer.JsonType
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b)
	return true
}
