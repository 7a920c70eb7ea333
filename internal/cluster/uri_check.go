package cluster

import (
	"strings"

	"shardboard/internal/fault"
)

// mechanism is how the address signs in, in lower case; "" for the server's choice.
func (u URI) mechanism() string { return strings.ToLower(u.option("authmechanism")) }

// checkSignIn refuses ways of signing in that cannot work here, or that would send the
// password readable over the network.
func (u URI) checkSignIn() error {
	switch u.mechanism() {
	case "", "scram-sha-1", "scram-sha-256", "mongodb-x509", "mongodb-aws":
		return nil
	case "mongodb-oidc":
		properties := strings.ToLower(u.option("authmechanismproperties"))
		for _, of := range []string{"azure", "gcp", "k8s"} {
			if strings.Contains(properties, "environment:"+of) {
				return nil
			}
		}
		return fault.New(fault.Invalid, "authMechanism=MONGODB-OIDC works with the identity of a workload only: add "+
			"authMechanismProperties=ENVIRONMENT:azure, gcp or k8s. shardboard has nobody who could sign in in a browser.")
	case "plain":
		if !u.encrypts() {
			return fault.New(fault.Invalid, "authMechanism=PLAIN sends the password as it is: add tls=true to the address.")
		}
		return nil
	case "gssapi":
		return fault.New(fault.Invalid, "authMechanism=GSSAPI (Kerberos) needs a C library that shardboard is built without; use "+
			"SCRAM-SHA-256, MONGODB-X509, MONGODB-AWS or PLAIN over TLS.")
	}
	return fault.New(fault.Invalid, "The authMechanism of the MongoDB address is not known; use SCRAM-SHA-256, SCRAM-SHA-1, "+
		"MONGODB-X509, MONGODB-AWS, MONGODB-OIDC or PLAIN over TLS.")
}

// checkTopology refuses options that say that the address is not that of a sharded cluster, or that
// exclude each other.
func (u URI) checkTopology() error {
	several := strings.Contains(u.hosts, ",")
	direct, balanced := u.option("directconnection") == "true" || u.option("connect") == "direct", u.option("loadbalanced") == "true"
	switch {
	case u.option("replicaset") != "":
		return fault.New(fault.Invalid, "replicaSet=… makes the driver look for a replica set and pass over every mongos: remove it, and "+
			"let the address name a mongos.")
	case direct && u.scheme == schemeSRV:
		return fault.New(fault.Invalid, "directConnection=true is for one host, and a mongodb+srv:// address may lead to several: remove it.")
	case direct && several:
		return fault.New(fault.Invalid, "directConnection=true is for one host, and the address names several: remove it.")
	case balanced && several:
		return fault.New(fault.Invalid, "loadBalanced=true is for the one host of a load balancer, and the address names several: remove it.")
	case balanced && direct:
		return fault.New(fault.Invalid, "loadBalanced=true and directConnection=true exclude each other: remove one of the two.")
	}
	return nil
}

// compressorsKnown are those that the driver has.
var compressorsKnown = []string{"snappy", "zlib", "zstd"}

// checkCompressors refuses names that the driver would pass over in silence.
func (u URI) checkCompressors() error {
	for name := range strings.SplitSeq(u.option("compressors"), ",") {
		if name = strings.TrimSpace(name); name != "" && !strings.Contains(" "+strings.Join(compressorsKnown, " ")+" ", " "+name+" ") {
			return fault.New(fault.Invalid, "A name in compressors is not known; use %s.", strings.Join(compressorsKnown, ", "))
		}
	}
	return nil
}
