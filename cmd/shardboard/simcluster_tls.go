package main

import (
	"crypto/tls"

	"shardboard/internal/fault"
	"shardboard/internal/fileperm"
	"shardboard/internal/simcluster"
)

// simTLSFlags are the flags of simcluster for TLS. The last has the name of mongos.
type simTLSFlags struct {
	TLSCert string `name:"tls-cert" help:"Certificate file (PEM) of the simulated mongos; all clients must use TLS then."`
	TLSKey  string `name:"tls-key" help:"File of the certificate's private key (PEM)."`
	TLSCA   string `name:"tls-ca" help:"File of the CA (PEM) of client certificates: every client must present one."`
	Without bool   `name:"tls-allow-connections-without-certificates" help:"With --tls-ca, accept clients without certificate too."`
}

const maxSimPEM = 1 << 20 // bytes of each file

// config is nil without TLS.
func (f simTLSFlags) config() (*tls.Config, error) {
	switch {
	case (f.TLSCert == "") != (f.TLSKey == ""):
		return nil, fault.New(fault.Invalid, "--tls-cert and --tls-key go together.")
	case f.TLSCert == "" && f.TLSCA != "":
		return nil, fault.New(fault.Invalid, "--tls-ca needs --tls-cert and --tls-key.")
	case f.TLSCA == "" && f.Without:
		return nil, fault.New(fault.Invalid, "--tls-allow-connections-without-certificates needs --tls-ca.")
	case f.TLSCert == "":
		return nil, nil
	}
	c := simcluster.Certificates{OptionalForClients: f.Without}
	var err error
	if c.Server, err = fileperm.ReadPublic("TLS certificate", f.TLSCert, maxSimPEM); err != nil {
		return nil, err
	}
	if c.Key, err = fileperm.ReadSecret("key of the TLS certificate", f.TLSKey, maxSimPEM); err != nil {
		return nil, err
	}
	if f.TLSCA != "" {
		if c.ClientCA, err = fileperm.ReadPublic("CA of the clients", f.TLSCA, maxSimPEM); err != nil {
			return nil, err
		}
	}
	config, err := simcluster.TLSConfig(c)
	return config, fault.Wrap(fault.Invalid, err, "The simulated cluster cannot use TLS: %v.", err)
}
