/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_NODES_H
#define TENACURL_INTERPOSE_NODES_H

/*
 * The symbol version nodes that libcurls are built with: CURL_ + flavour + soname digit (lib/libcurl.vers.in and
 * configure.ac in curl), and those of Debian's GnuTLS and NSS flavours. A reference names its flavour by its node, so
 * each node has entry points of its own. The default node serves unversioned builds: a reference without a version
 * takes the *first* node of the version script, and a named node alone would turn interposition off without a word.
 *
 * NODE(suffix, version): suffix names the entry points; version is what the real symbols carry.
 */
#define TENACURL_DEFAULT_NODE TENACURL_1

#define TENACURL_VERSIONED_NODES(NODE)                                                                                 \
	NODE(openssl_4, CURL_OPENSSL_4)                                                                                \
	NODE(gnutls_4, CURL_GNUTLS_4)                                                                                  \
	NODE(mbedtls_4, CURL_MBEDTLS_4)                                                                                \
	NODE(wolfssl_4, CURL_WOLFSSL_4)                                                                                \
	NODE(rustls_4, CURL_RUSTLS_4)                                                                                  \
	NODE(multissl_4, CURL_MULTISSL_4)                                                                              \
	NODE(plain_4, CURL_4)                                                                                          \
	NODE(openssl_3, CURL_OPENSSL_3)                                                                                \
	NODE(gnutls_3, CURL_GNUTLS_3)                                                                                  \
	NODE(nss_3, CURL_NSS_3)

#endif
