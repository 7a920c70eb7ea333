package app

import (
	"net/url"
	"strings"

	"shardboard/internal/configfile"
	"shardboard/internal/fault"
	"shardboard/internal/store/mongodb"
)

// CheckSecrets adds a mistake for each setting of the server whose address has a password, if others may read
// the file. Those of clusters are checked where they are read.
func CheckSecrets(f *configfile.File) {
	for _, s := range f.Settings {
		for _, value := range s.Values {
			if holdsLiteralSecret(value) {
				refuseSecret(f, s.Line, s.Key)
			}
		}
	}
}

// refuseSecret adds a mistake and reports false, if others may read the file.
func refuseSecret(f *configfile.File, line int, key string) bool {
	err := f.Secret()
	if err != nil {
		f.Add(line, "%s: the address has a password, so nobody else may read this file: %s", key, fault.Text(err))
	}
	return err == nil
}

// holdsLiteralSecret reports whether a text is an address, valid or not, with a password or a secret option that
// stands in it, and not only in the environment that it refers to.
func holdsLiteralSecret(text string) bool {
	text = variable.ReplaceAllString(text, "")
	if !mongodb.IsAddress(text) {
		u, err := url.Parse(text)
		if err != nil || u.User == nil {
			return false
		}
		password, _ := u.User.Password()
		return password != ""
	}
	_, rest, _ := strings.Cut(text, "://")
	// Up to the last @: in a password that is not percent-encoded there may be /, ? and @.
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if _, password, _ := strings.Cut(rest[:at], ":"); password != "" {
			return true
		}
	}
	_, query, _ := strings.Cut(rest, "?")
	for option := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, _ := strings.Cut(option, "=")
		if strings.Contains(strings.ToLower(name), "password") && value != "" {
			return true
		}
		plain, err := url.QueryUnescape(value)
		if _, token, ok := strings.Cut(strings.ToLower(plain), "token:"); err != nil || ok && token != "" {
			return true
		}
	}
	return false
}
