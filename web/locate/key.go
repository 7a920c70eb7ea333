package locate

import (
	"net/http"
	"net/url"
	"strconv"

	"shardboard/internal/answer"
	"shardboard/internal/answer/locating"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/placement"
	"shardboard/web/site"
)

// writeKeyAnswer answers ?ns=&key= alone; with false it leaves the answer to the
// general way. A program that routes by shard-key value asks this for every row: finding
// the chunk takes a microsecond, and encoding/json, which walks the answer three
// times, took thirty. So this one answer is written by hand, the same byte for byte
// (a test asks for both).
func writeKeyAnswer(s *site.Site, w http.ResponseWriter, r *http.Request, q url.Values, a placement.Answer) bool {
	if len(q) != 2 || len(q["ns"]) != 1 || len(q["key"]) != 1 || !locating.PlainKeyAnswer(a) || site.WantsCSV(r) {
		return false
	}
	v := s.ViewFor(r)
	if p := a.Items[0].Places[0]; logbook.MovingIn(v, p.NS, logbook.PlaceRange(p)) != nil {
		return false
	}
	at, stale := answer.DirectoryAsOf(v)
	b := make([]byte, 0, 1024)
	b = locating.AppendKeyItem(append(b, `{"items":[`...), &a.Items[0])
	b = locating.AppendTime(append(b, `],"asOf":`...), at)
	b = strconv.AppendBool(append(b, `,"stale":`...), stale)
	b = append(b, `,"input":[{"form":`...)
	b = locating.AppendText(b, string(a.Input.Readings[0].Form))
	b = append(b, `}],"cost":{"targeted":0,"broadcast":0},"anatomy":[]}`+"\n"...)
	w.Header()["Content-Type"] = locating.JSONType
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(b)
	return true
}
