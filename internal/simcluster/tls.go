package simcluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"net"
	"time"

	"shardboard/internal/simcluster/engine"
)

// Certificates are the PEM texts of which [TLSConfig] makes the TLS settings of a
// cluster.
type Certificates struct {
	Server, Key []byte
	// ClientCA verifies the certificates of clients, which have to present one.
	ClientCA []byte
	// OptionalForClients accepts clients without certificate too
	// (tlsAllowConnectionsWithoutCertificates).
	OptionalForClients bool
}

// TLSConfig makes the settings for Options.TLS. Like a mongos it accepts TLS 1.2 and 1.3.
func TLSConfig(c Certificates) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(c.Server, c.Key)
	if err != nil {
		return nil, fmt.Errorf("read server certificate: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.ClientCA == nil {
		if c.OptionalForClients {
			return nil, errors.New("client certificates can only be optional with a CA that verifies them")
		}
		return config, nil
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(c.ClientCA) {
		return nil, errors.New("read CA of clients: no certificate in it")
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	if c.OptionalForClients {
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config, nil
}

// handshakeTime is how long a client may take for the TLS handshake.
const handshakeTime = 10 * time.Second

// secure makes the TLS handshake, if the cluster needs TLS, and notes the client's
// certificate.
func (c *Cluster) secure(conn net.Conn, peer *engine.Conn) (net.Conn, error) {
	if c.opts.TLS == nil {
		return conn, nil
	}
	secured := tls.Server(conn, c.opts.TLS)
	ctx, cancel := context.WithTimeout(c.life, handshakeTime)
	defer cancel()
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if chains := secured.ConnectionState().VerifiedChains; len(chains) > 0 {
		name, err := subjectOf(chains[0][0])
		if err != nil {
			return nil, err
		}
		peer.Certificate = name
	}
	return secured, nil
}

// subjectOf is the subject of a certificate by RFC 2253, in the order of the
// certificate, as the server writes it.
func subjectOf(cert *x509.Certificate) (string, error) {
	var name pkix.RDNSequence
	if _, err := asn1.Unmarshal(cert.RawSubject, &name); err != nil {
		return "", fmt.Errorf("read subject of client certificate: %w", err)
	}
	return name.String(), nil
}
