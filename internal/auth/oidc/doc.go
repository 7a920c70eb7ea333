// Package oidc signs people in at an OpenID Connect issuer. It promises that
// claims come only out of a token which the issuer's present keys signed for
// this client, in answer to the very attempt that this browser began: code flow
// with PKCE (S256), state and nonce, asymmetric signatures alone.
//
// The issuer is asked for its addresses at the first sign-in, not at start: it
// may be down then, and everything but this way in has to work all the same.
package oidc
