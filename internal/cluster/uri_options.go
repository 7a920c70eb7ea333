package cluster

import (
	"crypto/tls"
	"encoding/pem"
	"net/url"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
)

// maxPEM is the size limit of a certificate file, in bytes.
const maxPEM = 1 << 20

// option returns the last value of an option by any of its names, in lower case.
func (u URI) option(names ...string) (value string) {
	_, query, _ := strings.Cut(u.reveal()[len(u.scheme):], "?")
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, text, _ := strings.Cut(pair, "=")
		for _, n := range names {
			if strings.ToLower(name) == n {
				if plain, err := url.QueryUnescape(text); err == nil {
					value = plain
				}
			}
		}
	}
	return value
}

// files are the certificates and keys that the address names, "" for those it does not.
func (u URI) files() []string {
	return []string{u.authorities(), u.combinedPair(), u.option("tlscertificatefile"), u.option("tlsprivatekeyfile")}
}

func (u URI) authorities() string { return u.option("sslcertificateauthorityfile", "tlscafile") }
func (u URI) combinedPair() string {
	return u.option("sslclientcertificatekeyfile", "tlscertificatekeyfile")
}

// encrypts reports whether connections use TLS, which mongodb+srv does unless told otherwise.
func (u URI) encrypts() bool {
	switch v := u.option("tls", "ssl"); {
	case v != "":
		return v == "true"
	case u.scheme == schemeSRV:
		return true
	}
	for _, name := range u.files() {
		if name != "" {
			return true
		}
	}
	return u.option("tlsinsecure", "sslinsecure") != ""
}

// checkFiles checks the certificates and keys that the address names.
func (u URI) checkFiles() error {
	if path := u.authorities(); path != "" {
		text, err := fileperm.ReadPublic("file of certificate authorities (tlsCAFile)", path, maxPEM)
		if err != nil {
			return err
		}
		if !hasBlock(text, "CERTIFICATE") {
			return fault.New(fault.Invalid, "The file of certificate authorities (tlsCAFile), %s, has no certificate in PEM format.",
				fileperm.Quote(path))
		}
	}
	if path := u.combinedPair(); path != "" {
		text, err := fileperm.ReadSecret("client certificate and key (tlsCertificateKeyFile)", path, maxPEM)
		if err != nil {
			return err
		}
		return checkPair(text, text, "client certificate and key (tlsCertificateKeyFile)", path)
	}
	cert, key := u.option("tlscertificatefile"), u.option("tlsprivatekeyfile")
	if cert == "" || key == "" {
		return nil // the driver refuses one without the other
	}
	public, err := fileperm.ReadPublic("client certificate (tlsCertificateFile)", cert, maxPEM)
	if err != nil {
		return err
	}
	secret, err := fileperm.ReadSecret("key of the client certificate (tlsPrivateKeyFile)", key, maxPEM)
	if err != nil {
		return err
	}
	return checkPair(public, secret, "client certificate and key (tlsCertificateFile, tlsPrivateKeyFile)", cert)
}

// checkPair checks that a key belongs to a certificate. An encrypted key is left to the
// driver, which has its password.
func checkPair(cert, key []byte, what, path string) error {
	switch {
	case !hasBlock(cert, "CERTIFICATE"):
		return fault.New(fault.Invalid, "The %s, %s, has no certificate in PEM format.", what, fileperm.Quote(path))
	case !hasBlock(key, "PRIVATE KEY"):
		return fault.New(fault.Invalid, "The %s, %s, has no private key in PEM format.", what, fileperm.Quote(path))
	case strings.Contains(string(key), "ENCRYPTED"):
		return nil
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return fault.New(fault.Invalid, "The %s, %s, cannot be used: the key does not belong to the certificate, or one of them is damaged.",
			what, fileperm.Quote(path))
	}
	return nil
}

// hasBlock reports whether a PEM file has a block whose type ends so.
func hasBlock(text []byte, kind string) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, kind) {
			return true
		}
	}
	return false
}

// withoutDNS is a mongodb+srv address as one that can be checked without the network. Options
// that only such an address has are left out; the driver checks them when it resolves the name.
func (u URI) withoutDNS() string {
	rest, query, _ := strings.Cut(u.reveal()[len(u.scheme):], "?")
	var kept []string
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		if n := strings.ToLower(name); n != "srvmaxhosts" && n != "srvservicename" {
			kept = append(kept, pair)
		}
	}
	if !strings.Contains(rest, "/") {
		rest += "/"
	}
	return schemePlain + rest + "?" + strings.Join(kept, "&")
}
