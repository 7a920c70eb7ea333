package main

// The public certificate authorities, for systems that have none, as the container image: clusters and
// OpenID Connect issuers with certificates of these are then reached there too. A system's own have precedence.
import _ "golang.org/x/crypto/x509roots/fallback"
