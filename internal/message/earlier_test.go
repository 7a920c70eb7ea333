package message

import (
	"encoding/json"
	"testing"

	"shardboard/internal/fixture/must"
)

func TestMessagesOfEarlierVersionsSayWhatTheyWereAbout(t *testing.T) {
	for stored, want := range map[string]string{
		`{"Code":"split.median","Args":{"ns":"app.docs","shard":"s1","max":"{a: 2}","min":"{a: {b}}"}}`: "split.median (max {a: 2}, min {a: {b}}, ns app.docs, shard s1)",
		`{"Code":"balancer-on","Args":null}`:                                      "balancer-on",
		`{"Code":"","Args":null}`:                                                 "",
		`{"code":"x","pattern":"In {ns}.","facts":[{"name":"ns","value":"a.b"}]}`: "In a.b.",
	} {
		var m Message
		if err := json.Unmarshal([]byte(stored), &m); err != nil || m.String() != want {
			t.Errorf("%s: %q, %v; want %q", stored, m, err, want)
		}
		again, _ := json.Marshal(m)
		var n Message
		if err := json.Unmarshal(again, &n); err != nil || n.String() != want {
			t.Errorf("%s, stored again: %q, %v", stored, n, err)
		}
	}
	var m Message
	must.Do(t, json.Unmarshal([]byte(`{"Code":"x","Args":{"min":"{a: 1}","error":"E11000 { a: 1 }"}}`), &m))
	for name, want := range map[string]Kind{"min": KindKey, "error": KindServer} {
		if f, _ := m.Fact(name); f.Kind != want {
			t.Errorf("%s is %s; those who may not see it would", name, f.Kind)
		}
	}
}
