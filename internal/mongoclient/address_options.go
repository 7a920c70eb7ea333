package mongoclient

import (
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/fault"
)

// known options are those of an address that the driver reads, in lower case.
var known = strings.Fields(`appname authmechanism authmechanismproperties authsource compressors connect connecttimeoutms
	directconnection enableoverloadretargeting heartbeatfrequencyms heartbeatintervalms journal loadbalanced localthresholdms
	maxadaptiveretries maxconnecting maxidletimems maxpoolsize maxstaleness maxstalenessseconds minpoolsize readconcernlevel
	readpreference readpreferencetags replicaset retryreads retrywrites servermonitoringmode serverselectiontimeoutms
	sockettimeoutms srvmaxhosts srvservicename ssl sslcertificateauthorityfile sslclientcertificatekeyfile
	sslclientcertificatekeypassword sslinsecure timeoutms tls tlscafile tlscertificatefile tlscertificatekeyfile
	tlscertificatekeyfilepassword tlsdisablecertificaterevocationcheck tlsdisableocspendpointcheck tlsinsecure tlsprivatekeyfile
	w zlibcompressionlevel zstdcompressionlevel`)

// instead says what to write for options that other drivers and mongosh have.
var instead = map[string]string{
	"tlsallowinvalidhostnames": "the host name is checked; tlsInsecure=true checks neither it nor the certificate, a certificate with the " +
		"right names is better",
	"tlsallowinvalidcertificates": "the certificate is checked; name its authority by tlsCAFile",
	"sslcafile":                   "write tlsCAFile",
	"ssl_ca_certs":                "write tlsCAFile",
	"sslpemkeyfile":               "write tlsCertificateKeyFile",
	"sslcertificatekeyfile":       "write tlsCertificateKeyFile",
	"sslpemkeypassword":           "write tlsCertificateKeyFilePassword",
	"sslallowinvalidhostnames":    "the host name is checked; use a certificate with the right names",
	"sslallowinvalidcertificates": "the certificate is checked; name its authority by tlsCAFile",
	"sslvalidate":                 "the certificate is checked; name its authority by tlsCAFile",
	"tlscrlfile":                  "lists of revoked certificates are not read",
	"uuidrepresentation":          "it is not needed: leave it out",
	"waitqueuetimeoutms":          "each command has a limit of its own: leave it out",
	"waitqueuemultiple":           "leave it out",
	"maxlifetimems":               "write maxIdleTimeMS",
	"slaveok":                     "write readPreference",
	"auto_reconnect":              "leave it out: it always reconnects",
	"wtimeoutms":                  "each command has a limit of its own: leave it out",
	"wtimeout":                    "each command has a limit of its own: leave it out",
	"fsync":                       "write journal",
	"safe":                        "write w",
}

// CheckForm refuses an address that a file or a configuration has wrapped in something.
func CheckForm(text string) error {
	switch {
	case strings.HasPrefix(text, "\ufeff"):
		return fault.New(fault.Invalid, "The MongoDB address begins with a byte order mark (BOM), which some editors write: save the file "+
			"as UTF-8 without it.")
	case text != "" && strings.ContainsRune("\"'`\u201c\u2018", []rune(text)[0]):
		return fault.New(fault.Invalid, "The MongoDB address is in quotes: remove them.")
	}
	return nil
}

// CheckProxy refuses an address that asks for a proxy: the driver would connect past it.
func CheckProxy(address string) error {
	for _, name := range optionNames(address) {
		if strings.HasPrefix(strings.ToLower(name), "proxy") {
			return fault.New(fault.Invalid, "The MongoDB address has %s, which the driver ignores: it would connect past the proxy. Remove it, "+
				"and let the network or a tunnel lead to the cluster.", name)
		}
	}
	return nil
}

// Ignored lists the options of an address that have no effect, each with what to write instead.
func Ignored(address string) (out []string) {
	for _, name := range optionNames(address) {
		lower := strings.ToLower(name)
		if slices.Contains(known, lower) {
			continue
		}
		advice := instead[lower]
		if advice == "" {
			advice = "check its spelling"
		}
		out = append(out, "The option "+name+" of the address is ignored: "+advice+".")
	}
	return out
}

// optionNames are the names in the query of an address; what is no name could be a part of a password and is left out.
func optionNames(address string) (out []string) {
	_, query, _ := strings.Cut(address, "?")
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		plain := !strings.ContainsFunc(name, func(r rune) bool {
			return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		})
		if err == nil && plain && name != "" && len(name) <= 60 && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
