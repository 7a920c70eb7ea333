// Package oidc signs people in at an OpenID Connect issuer. It accepts claims only from a token
// that the issuer's current keys signed for this client, in answer to the attempt that this browser
// started: code flow with PKCE (S256), state and nonce, asymmetric signatures only.
//
// Discovery runs at the first sign-in and not at start, so that an issuer that is down does not
// stop shardboard from starting.
package oidc
