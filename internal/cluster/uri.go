package cluster

import (
	"fmt"
	"log/slog"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/mongoclient"
)

// URI is a MongoDB connection string that cannot be printed by accident: every
// formatting shows only scheme and hosts. User, password and all options are hidden,
// because options contain secrets too (session tokens, key file passwords). The zero
// URI is no address.
type URI struct {
	reveal func() string // a function, so that printing an enclosing struct shows at most a pointer
	scheme string
	hosts  string
}

const (
	schemePlain = "mongodb://"
	schemeSRV   = "mongodb+srv://"

	maxURIFile = 64 << 10 // bytes
)

// ParseURI checks a connection string and the certificates that it names, without using the
// network. Its errors quote no part of it but the names of files.
func ParseURI(text string) (URI, error) {
	text = strings.TrimSpace(text)
	scheme := schemePlain
	if err := mongoclient.CheckForm(text); err != nil {
		return URI{}, err
	}
	switch {
	case text == "":
		return URI{}, fault.New(fault.Invalid, "No MongoDB address was given; say --uri mongodb://host:port or set SHARDBOARD_URI.")
	case strings.HasPrefix(text, schemeSRV):
		scheme = schemeSRV
	case !strings.HasPrefix(text, schemePlain):
		return URI{}, fault.New(fault.Invalid, "The MongoDB address must begin with mongodb:// or mongodb+srv://.")
	}
	rest := text[len(scheme):]
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	hosts := authority[strings.LastIndexByte(authority, '@')+1:]
	if strings.Count(authority, "@") > 1 || strings.Contains(rest[end:], "@") && !strings.Contains(authority, "@") {
		return URI{}, fault.New(fault.Invalid,
			"The MongoDB address has an @, / or ? in user name or password; write it percent-encoded (%%40, %%2F, %%3F).")
	}
	if hosts == "" {
		return URI{}, fault.New(fault.Invalid, "The MongoDB address names no host.")
	}
	u := URI{reveal: func() string { return text }, scheme: scheme, hosts: hosts}
	for _, check := range []func() error{u.checkSignIn, u.checkTopology, u.checkCompressors, u.checkFiles,
		func() error { return mongoclient.CheckProxy(text) }} {
		if err := check(); err != nil {
			return URI{}, err
		}
	}
	parsable := text
	if scheme == schemeSRV { // parsing it would query DNS
		if parsable = u.withoutDNS(); strings.Contains(hosts, ",") || strings.Contains(hosts, ":") {
			return URI{}, fault.New(fault.Invalid, "A mongodb+srv:// address has one host and no port; DNS knows the servers.")
		}
	}
	if err := options.Client().ApplyURI(parsable).Validate(); err != nil {
		// The driver's text may quote values, so it is not even wrapped.
		return URI{}, fault.New(fault.Invalid,
			"The MongoDB address is not valid; check hosts, ports and options, and that user and password are percent-encoded.")
	}
	return u, nil
}

// ReadURI reads a connection string from the first line of a file, such as a
// mounted secret or a pipe, that no other user can read.
func ReadURI(path string) (URI, error) {
	if strings.Contains(path, "://") { // not quoted: it may contain a password
		return URI{}, fault.New(fault.Invalid,
			"The name of the file with the MongoDB address is an address itself; write that into a file, and give the file's name.")
	}
	data, err := fileperm.ReadSecret("file with the MongoDB address", path, maxURIFile)
	if err != nil {
		return URI{}, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return ParseURI(line)
}

// IsZero reports whether there is no address.
func (u URI) IsZero() bool { return u.reveal == nil }

// Ignored lists the options that have no effect, each with what to write instead.
func (u URI) Ignored() []string {
	if u.IsZero() {
		return nil
	}
	return mongoclient.Ignored(u.reveal())
}

// Hosts is "host:port,…" for people.
func (u URI) Hosts() string { return u.hosts }

// String is scheme and hosts, nothing else.
func (u URI) String() string {
	if u.IsZero() {
		return ""
	}
	return u.scheme + u.hosts
}

// Format prints String for every verb, %#v and %+v included.
func (u URI) Format(f fmt.State, _ rune) { fmt.Fprint(f, u.String()) }

// LogValue is String.
func (u URI) LogValue() slog.Value { return slog.StringValue(u.String()) }

// MarshalText is String: what was marshalled cannot be used to connect.
func (u URI) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText is ParseURI for flags and configuration.
func (u *URI) UnmarshalText(text []byte) error {
	parsed, err := ParseURI(string(text))
	if err != nil {
		return err
	}
	*u = parsed
	return nil
}
