package access

import (
	"encoding/base64"
	"errors"
	"strings"
)

// maxMessage is the largest client message in bytes. Valid ones are much smaller.
const maxMessage = 4 << 10

// errMessage is any error in a SCRAM message. Clients must not learn the details.
var errMessage = errors.New("malformed SCRAM message")

// clientFirst is the first message of RFC 5802: "n,,n=user,r=nonce".
type clientFirst struct {
	header string // gs2 header, "n,,"
	bare   string // what follows it
	user   string
	nonce  string
}

func parseClientFirst(message string) (m clientFirst, err error) {
	if len(message) > maxMessage {
		return m, errMessage
	}
	parts := strings.SplitN(message, ",", 3)
	if len(parts) < 3 || parts[0] != "n" && parts[0] != "y" || parts[1] != "" {
		// Channel binding ("p=…") and authorization as another user ("a=…") are not
		// supported.
		return m, errMessage
	}
	m.header, m.bare = parts[0]+",,", parts[2]
	fields := strings.Split(m.bare, ",")
	if len(fields) < 2 {
		return m, errMessage
	}
	name, ok := strings.CutPrefix(fields[0], "n=")
	if !ok {
		return m, errMessage
	}
	if m.user, err = unescape(name); err != nil {
		return m, err
	}
	if m.nonce, ok = strings.CutPrefix(fields[1], "r="); !ok || m.nonce == "" || m.user == "" {
		return m, errMessage
	}
	return m, nil
}

// clientFinal is the second: "c=biws,r=nonce,p=proof".
type clientFinal struct {
	binding string // the gs2 header again, decoded
	nonce   string
	proof   []byte
	without string // the message without the proof
}

func parseClientFinal(message string) (m clientFinal, err error) {
	if len(message) > maxMessage {
		return m, errMessage
	}
	at := strings.LastIndex(message, ",p=")
	if at < 0 {
		return m, errMessage
	}
	m.without = message[:at]
	if m.proof, err = base64.StdEncoding.Strict().DecodeString(message[at+3:]); err != nil {
		return m, errMessage
	}
	fields := strings.Split(m.without, ",")
	if len(fields) < 2 {
		return m, errMessage
	}
	binding, ok := strings.CutPrefix(fields[0], "c=")
	if !ok {
		return m, errMessage
	}
	header, err := base64.StdEncoding.Strict().DecodeString(binding)
	if err != nil {
		return m, errMessage
	}
	m.binding = string(header)
	if m.nonce, ok = strings.CutPrefix(fields[1], "r="); !ok || m.nonce == "" {
		return m, errMessage
	}
	return m, nil
}

// unescape reads a user name, in which "=2C" is a comma and "=3D" an equals sign.
func unescape(name string) (string, error) {
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(name, "=")
		b.WriteString(plain)
		if !found {
			return b.String(), nil
		}
		switch {
		case strings.HasPrefix(rest, "2C"):
			b.WriteByte(',')
		case strings.HasPrefix(rest, "3D"):
			b.WriteByte('=')
		default:
			return "", errMessage
		}
		name = rest[2:]
	}
}
