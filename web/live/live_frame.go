package live

import (
	"bytes"
	"encoding/json"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/web/site"
)

// Update is one frame of a topic.
type Update struct {
	Topic string `json:"topic"`
	V     uint64 `json:"v"`
	HTML  string `json:"html,omitempty"`
	Moves []Move `json:"moves,omitempty"` // of the topic map
}

// Move is a chunk that changed shards since the version before.
type Move struct {
	NS       string `json:"ns"`
	Position int    `json:"position"` // of the chunk in key order
	From     string `json:"from"`
	To       string `json:"to"`
}

// statusFrame is the header's dot: how old the data is and whether all is well.
func statusFrame(s *site.Site, v answer.View) *wsMessage {
	var out struct {
		Status LiveStatus `json:"status"`
	}
	st := s.Status(v)
	out.Status = LiveStatus{
		At:    api.Time(st.At),
		Age:   -1,
		OK:    st.Level == "ok" || st.Level == string(rules.Critical) || st.Level == string(rules.Warn),
		Level: st.Level,
		Text:  st.Text,
	}
	if !st.At.IsZero() {
		out.Status.Age = int64(v.Now.Sub(st.At) / time.Second)
	}
	m, err := newMessage(out)
	if err != nil {
		return nil // plain strings and numbers: cannot be
	}
	return m
}

// LiveStatus is what the header of each page shows: how old the data is, and whether something is wrong.
type LiveStatus struct {
	At   *time.Time `json:"at"`
	Age  int64      `json:"age"` // seconds; -1 = never read
	OK   bool       `json:"ok"`  // the data is of now
	Text string     `json:"text"`
	// Level is ok, warn or critical by the worst problem, while the data is of now;
	// else what is wrong with the data.
	Level string `json:"level"`
}

// MarshalFrame is JSON as browsers read it; HTML needs no second escaping
// because the frame is text for JSON.parse and never part of a page.
func MarshalFrame(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}
