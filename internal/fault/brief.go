package fault

import (
	"errors"
	"strings"
)

// Quote classifies err like Wrap, with two sentences: text quotes what a server
// wrote, which may hold key values and host names; brief is without that and is
// for people who may not see it.
func Quote(kind Kind, err error, text, brief string) error {
	return &Error{Kind: kind, Text: text, Brief: brief, Err: err}
}

// Brief is Text without what a server wrote. A sentence that repeats another one
// further down the chain is rid of that one's quotes too.
func Brief(err error) string {
	text := Text(err)
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Brief != "" {
			text = strings.ReplaceAll(text, e.Text, e.Brief)
		}
	}
	return text
}

// WithoutQuotes is err with Brief in the place of its sentence; err itself where
// they are the same.
func WithoutQuotes(err error) error {
	brief := Brief(err)
	if err == nil || brief == Text(err) {
		return err
	}
	return &Error{Kind: Of(err), Title: Title(err), Text: brief, Err: err}
}
