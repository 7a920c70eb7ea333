package mongodb

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/mongoclient"
	"shardboard/internal/sanitize"
)

const (
	schemePlain = "mongodb://"
	schemeSRV   = "mongodb+srv://"

	defaultDatabase = "shardboard"
	maxAddressFile  = 64 << 10 // bytes
)

// Address is the connection string of a store. Every formatting shows only scheme, hosts and
// database; user, password and options are hidden. The zero Address is none.
type Address struct {
	reveal   func() string // a function, so that printing an enclosing struct shows at most a pointer
	scheme   string
	hosts    string
	database string
}

// IsAddress reports whether a text is meant as the address of a store on MongoDB, and not as a
// directory.
func IsAddress(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, schemePlain) || strings.HasPrefix(text, schemeSRV)
}

// ParseAddress checks a connection string without using the network. The database is the path of the
// address, "shardboard" without one. Its errors never quote any part of the address.
func ParseAddress(text string) (Address, error) {
	text = strings.TrimSpace(text)
	if err := mongoclient.CheckForm(text); err != nil {
		return Address{}, err
	}
	if err := mongoclient.CheckProxy(text); err != nil {
		return Address{}, err
	}
	a := Address{reveal: func() string { return text }, scheme: schemePlain}
	switch {
	case strings.HasPrefix(text, schemeSRV):
		a.scheme = schemeSRV
	case !strings.HasPrefix(text, schemePlain):
		return Address{}, fault.New(fault.Invalid, "The address of the store must begin with mongodb:// or mongodb+srv://.")
	}
	rest := text[len(a.scheme):]
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	a.hosts = authority[strings.LastIndexByte(authority, '@')+1:]
	if strings.Count(authority, "@") > 1 || strings.Contains(path+query, "@") && !strings.Contains(authority, "@") {
		return Address{}, fault.New(fault.Invalid,
			"The address of the store has an @, / or ? in user name or password; write it percent-encoded (%%40, %%2F, %%3F).")
	}
	if a.hosts == "" {
		return Address{}, fault.New(fault.Invalid, "The address of the store names no host.")
	}
	var err error
	if a.database, err = databaseOf(path); err != nil {
		return Address{}, err
	}
	if a.scheme == schemePlain { // parsing mongodb+srv would query DNS
		if err := options.Client().ApplyURI(text).Validate(); err != nil {
			return Address{}, a.invalid()
		}
	}
	return a, nil
}

// Ignored lists the options that have no effect, each with what to write instead.
func (a Address) Ignored() []string {
	if a.IsZero() {
		return nil
	}
	return mongoclient.Ignored(a.reveal())
}

// databaseOf is the database of an address's path. A user of another database needs authSource.
func databaseOf(path string) (string, error) {
	name, err := url.PathUnescape(path)
	switch {
	case err != nil || len(name) > 63 || strings.ContainsAny(name, "/\\. \"$*<>:|?\x00"):
		return "", fault.New(fault.Invalid, "The path of the store's address must be the name of a database, such as /shardboard.")
	case name == "":
		return defaultDatabase, nil
	case name == "admin" || name == "config" || name == "local":
		return "", fault.New(fault.Invalid,
			"The database %s belongs to MongoDB. Name another one in the path of the store's address, such as /shardboard; "+
				"where the user's account is stored is said by authSource.", name)
	}
	return name, nil
}

// unusable is the error of an address that the driver does not take. The driver's text may quote
// options, that of DNS has names only.
func (a Address) unusable(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) { // the hosts of mongodb+srv
		return fault.Wrap(fault.Unavailable, err, "The hosts of the store %s cannot be looked up in DNS (%s).", a, sanitize.Line(dns.Error()))
	}
	return a.invalid()
}

func (a Address) invalid() error {
	return fault.New(fault.Invalid,
		"The address of the store is not valid; check hosts, ports and options, and that user and password are percent-encoded.")
}

// ReadAddress reads an address from the first line of a file, such as a mounted secret or a pipe,
// that no other user can read.
func ReadAddress(path string) (Address, error) {
	if strings.Contains(path, "://") { // not quoted: it may contain a password
		return Address{}, fault.New(fault.Invalid,
			"The name of the file with the store's address is an address itself; write that into a file, and give the file's name.")
	}
	data, err := fileperm.ReadSecret("file with the store's address", path, maxAddressFile)
	if err != nil {
		return Address{}, err
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return ParseAddress(line)
}

// IsZero reports whether there is no address.
func (a Address) IsZero() bool { return a.reveal == nil }

// Hosts is "host:port,…" for people.
func (a Address) Hosts() string { return a.hosts }

// HoldsSecret reports whether the address has a password.
func (a Address) HoldsSecret() bool { return !a.IsZero() && HoldsSecret(a.reveal()) }

// HoldsSecret reports whether a text is an address with a password or a secret option, valid or not.
func HoldsSecret(text string) bool {
	if !IsAddress(text) {
		return false
	}
	_, rest, _ := strings.Cut(text, "://")
	// Up to the last @: in a password that is not percent-encoded there may be /, ? and @.
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		if _, password, _ := strings.Cut(rest[:at], ":"); password != "" {
			return true
		}
	}
	_, query, _ := strings.Cut(rest, "?")
	if plain, err := url.QueryUnescape(query); err == nil {
		query = plain
	}
	query = strings.ToLower(query)
	return strings.Contains(query, "password=") || strings.Contains(query, "token:")
}

// String is scheme, hosts and database, nothing else.
func (a Address) String() string {
	if a.IsZero() {
		return ""
	}
	return a.scheme + a.hosts + "/" + a.database
}

// Format prints String for every verb, %#v and %+v included.
func (a Address) Format(f fmt.State, _ rune) { fmt.Fprint(f, a.String()) }

// LogValue is String.
func (a Address) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalText is String: what was marshalled cannot be used to connect.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
