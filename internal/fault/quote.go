package fault

import (
	"errors"
	"strings"
)

// Quote classifies err like Wrap, with two sentences: text quotes a server, so it may contain key
// values and host names; brief does not, and is for people who may not see those.
func Quote(kind Kind, err error, text, brief string) error {
	return &Error{Kind: kind, Text: text, Brief: brief, Err: err}
}

// Brief is Text without quotes of a server. It also removes quotes of errors further down the chain
// that the sentence repeats.
func Brief(err error) string {
	text := Text(err)
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Brief != "" {
			text = strings.ReplaceAll(text, e.Text, e.Brief)
		}
	}
	return text
}

// WithoutQuotes is err with Brief instead of its sentence; err itself if they are the same.
func WithoutQuotes(err error) error {
	brief := Brief(err)
	if err == nil || brief == Text(err) {
		return err
	}
	return &Error{Kind: Of(err), Title: Title(err), Text: brief, Err: err}
}
