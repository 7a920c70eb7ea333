package api

import (
	"encoding/json"
	"time"
)

// Figure is a number with its precision, method and time. A nil Value means unknown, and Reason
// says why; zero is a real zero.
type Figure struct {
	Value     *int64
	Exact     bool
	PlusMinus int64  // 0 = no interval known
	Method    string // "collStats", "dbStats", "chunkShare", "routing", …
	At        time.Time
	Reason    string // "notLoaded", "notPermitted", "unreachable", …
}

type knownFigure struct {
	Value     int64      `json:"value"`
	Exact     bool       `json:"exact"`
	PlusMinus int64      `json:"plusMinus,omitempty"`
	Method    string     `json:"method"`
	At        *time.Time `json:"at"`
}

type unknownFigure struct {
	Value  *int64 `json:"value"`
	Reason string `json:"reason"`
}

// MarshalJSON writes {"value",…} for a known figure and {"value":null,"reason"} for an unknown one.
func (f Figure) MarshalJSON() ([]byte, error) {
	if f.Value == nil {
		reason := f.Reason
		if reason == "" {
			reason = "notLoaded"
		}
		return json.Marshal(unknownFigure{Reason: reason})
	}
	return json.Marshal(knownFigure{Value: *f.Value, Exact: f.Exact, PlusMinus: f.PlusMinus, Method: f.Method, At: Time(f.At)})
}

// UnmarshalJSON reads both forms.
func (f *Figure) UnmarshalJSON(b []byte) error {
	var in struct {
		Value     *int64     `json:"value"`
		Exact     bool       `json:"exact"`
		PlusMinus int64      `json:"plusMinus"`
		Method    string     `json:"method"`
		At        *time.Time `json:"at"`
		Reason    string     `json:"reason"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*f = Figure{Value: in.Value, Exact: in.Exact, PlusMinus: in.PlusMinus, Method: in.Method, Reason: in.Reason}
	if in.At != nil {
		f.At = *in.At
	}
	return nil
}
