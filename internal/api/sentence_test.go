package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/message"
)

func TestASentenceIsPlainTextInJSONAndReadBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	said := api.Say(message.New("x", "Zone {zone} has no shard for {age}.", message.Zone("zone", "a{age}"),
		message.Since("age", now.Add(-time.Hour))), now)
	type answer struct {
		Text  api.Sentence `json:"text"`
		Other api.Sentence `json:"other,omitzero"`
	}
	b, err := json.Marshal(answer{Text: said})
	var back answer
	if err != nil || json.Unmarshal(b, &back) != nil || string(b) != `{"text":"`+said.String()+`"}` {
		t.Fatalf("%s, %v", b, err)
	}
	if back.Text.String() != said.String() || back.Text.Code != "" || !back.Other.IsZero() {
		t.Errorf("%q was read from %q", back.Text, said)
	}
	if want := "Zone a{age} has no shard for " + message.Since("age", now.Add(-time.Hour)).Text(now) + "."; said.String() != want {
		t.Errorf("%q, expected %q", said, want)
	}
}
