package message_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func plain(s string) string { return strings.ReplaceAll(s, "\u202f", " ") }

func TestFactsAreWrittenByTheirKind(t *testing.T) {
	m := message.New("x", "{n} chunks, {b}, {s} of {ns} on {shard} since {at}, {age}, {d}, {r}/s, {p}: {e}",
		message.Count("n", 12345), message.Bytes("b", 1<<30), message.Share("s", 0.25), message.Namespace("ns", "y.docs"),
		message.Shard("shard", "rs1"), message.Time("at", at), message.Since("age", at), message.Duration("d", 90*time.Minute),
		message.Rate("r", 2.25), message.Project("p", "65f0", "shop"), message.Text("e", "bad\nline {n}"))
	want := `12 345 chunks, 1.00 GiB, 25 % of y.docs on rs1 since 2026-03-01 12:00:00 UTC, 5 min, 1 h, 2.2/s, shop: bad\nline {n}`
	if got := plain(m.At(at.Add(5 * time.Minute))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	expect.Equal(t, m.Args()["p"], "65f0", "scripts read the id, not the name")
}

func TestValuesNeverCountAsPatterns(t *testing.T) {
	m := message.New("x", "{a} {b}", message.Text("a", "{b}"), message.Text("b", "{a}"))
	if got := m.String(); got != "{b} {a}" {
		t.Error(got)
	}
}

func TestAPatternWithoutItsFactStaysReadable(t *testing.T) {
	for pattern, want := range map[string]string{"a {b} c": "a {b} c", "a {b": "a {b", "}{": "}{", "": "x", "{}": "{}"} {
		expect.Equal(t, message.New("x", pattern).String(), want, "%q", pattern)
	}
}

func TestAStoredMessageReadsTheSame(t *testing.T) {
	m := message.New("x", "{n} of {zone}", message.Count("n", 3), message.Zone("zone", "eu"))
	raw := must.Get(json.Marshal(m))
	var back message.Message
	must.Do(t, json.Unmarshal(raw, &back))
	expect.That(t, back.String() == "3 of eu" && back.Code == "x", "%s gives %q", raw, back.String())
	back = message.Message{}
	if err := json.Unmarshal([]byte(`{"Code":"check.busy","Args":{"ns":"y.docs"}}`), &back); err != nil ||
		back.String() != "check.busy (ns y.docs)" || back.Code != "check.busy" {
		t.Errorf("a record without words shows its code and arguments: %q, %v", back.String(), err)
	}
}

func TestWithReplacesAFactAndLeavesTheOriginalAlone(t *testing.T) {
	m := message.New("x", "{a}", message.Text("a", "1"))
	n := m.With(message.Text("a", "2")).With(message.Text("b", "3"))
	expect.That(t, m.String() == "1" && n.String() == "2" && n.Args()["b"] == "3", "%v %v", m, n)
}
