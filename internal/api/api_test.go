package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func marshal(t *testing.T, v any) string {
	t.Helper()
	b := must.Get(json.Marshal(v))
	return string(b)
}

func TestListIsAlwaysAnArrayAndEndsInNull(t *testing.T) {
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600))
	if got := marshal(t, List[Chunk]{AsOf: at}); got != `{"items":[],"next":null,"asOf":"2026-03-01T12:00:00Z","stale":false}` {
		t.Errorf("got %v, want %q", got, `{"items":[],"next":null,"asOf":"2026-03-01T12:00:00Z","stale":false}`)
	}
	text := marshal(t, List[Zone]{Items: []Zone{{Zone: "eu"}}, Next: "abc", AsOf: at, Stale: true})
	var back List[Zone]
	if err := json.Unmarshal([]byte(text), &back); err != nil || back.Next != "abc" || len(back.Items) != 1 || !back.Stale {
		t.Errorf(`got %v %+v, want Next "abc", len(Items) 1, Stale true`, err, back)
	}
	if err := json.Unmarshal([]byte(`{"items":[],"next":null}`), &back); err != nil || back.Next != "abc" && back.Next != "" {
		t.Errorf("got %v %q, want no error and an empty or unchanged next", err, back.Next)
	}
}

func TestFigureIsKnownOrHasAReason(t *testing.T) {
	n := int64(1) << 60
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, f := range map[string]Figure{
		`{"value":1152921504606846976,"exact":true,"method":"routing","at":"2026-03-01T12:00:00Z"}`: {Value: &n, Exact: true,
			Method: "routing", At: at},
		`{"value":1152921504606846976,"exact":false,"plusMinus":7,"method":"sampled","at":null}`: {Value: &n, PlusMinus: 7, Method: "sampled"},
		`{"value":null,"reason":"notPermitted"}`:                                                 {Reason: "notPermitted"},
		`{"value":null,"reason":"notLoaded"}`:                                                    {},
	} {
		got := marshal(t, f)
		expect.That(t, got == want, "%s, not %s", got, want)
		var back Figure
		if err := json.Unmarshal([]byte(got), &back); err != nil || marshal(t, back) != want {
			t.Errorf("%s comes back as %s (%v)", want, marshal(t, back), err)
		}
	}
}

func TestProblemKeepsKindAndHidesCause(t *testing.T) {
	for _, kind := range []fault.Kind{fault.NotFound, fault.Invalid, fault.Conflict, fault.Forbidden, fault.Unavailable,
		fault.UnknownOutcome} {
		p := ProblemOf(fault.Wrap(kind, errors.New("secret cause"), "A sentence."), "/x")
		if p.Type != "about:blank" || p.Detail != "A sentence." || p.Instance != "/x" || p.Title != http.StatusText(p.Status) {
			t.Errorf("got %+v, want a problem with the given detail and instance", p)
		}
		if back := p.Fault(); fault.Of(back) != kind || fault.Text(back) != "A sentence." {
			t.Errorf("%v comes back as %v", kind, back)
		}
	}
	if p := ProblemOf(errors.New("secret cause"), "/x"); p.Status != 500 || p.Detail == "secret cause" {
		t.Errorf(`got %+v, want Status 500, Detail not "secret cause"`, p)
	}
}

func TestDocumentsAreCanonicalAndNeverBreakJSON(t *testing.T) {
	doc := must.Get(bson.Marshal(bson.D{{Key: "n", Value: int64(1) << 60}, {Key: "s", Value: "a\xff</script>"}}))
	if got := marshal(t, Document(doc)); !json.Valid([]byte(got)) || got == "null" {
		t.Error(got)
	}
	if Document(nil) != nil || Embedded("{") != nil || Document(bson.Raw{1, 2, 3}) != nil {
		t.Error("what is no document is not null")
	}
	if Instant(bson.Timestamp{}) != nil || Instant(bson.Timestamp{T: 1}).Unix() != 1 || Time(time.Time{}) != nil {
		t.Error("times")
	}
}
