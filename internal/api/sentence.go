package api

import (
	"encoding/json"
	"time"

	"shardboard/internal/message"
)

// Sentence is what people read. A page links what it names; JSON, files and the command line have it as plain text.
// Of one that was read from JSON only the text is known.
type Sentence struct {
	message.Message
	asOf time.Time // ages in the plain text are as of then
}

// Say is a sentence whose ages are as of now.
func Say(m message.Message, now time.Time) Sentence { return Sentence{m, now} }

// Timeless is a sentence without ages; those that it has are written as the times since when.
func Timeless(m message.Message) Sentence { return Sentence{Message: m} }

// Plain is a sentence of plain text.
func Plain(text string) Sentence { return Sentence{Message: message.New("", text)} }

// String is the plain text, on one line.
func (s Sentence) String() string { return s.At(s.asOf) }

// MarshalJSON writes the plain text.
func (s Sentence) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// UnmarshalJSON reads the plain text.
func (s *Sentence) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*s = Plain(text)
	return nil
}
