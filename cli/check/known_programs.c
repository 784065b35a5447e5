/* SPDX-License-Identifier: MIT */
#include "cli/check/known_programs.h"

#include <fnmatch.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct known_use USES[] = {
    {"curl", "", "-Z|--parallel", CHECK_MULTI},
    {"curl", "", NULL, CHECK_EASY},
    {"php*", "curl.so", "curl_exec&curl_multi_exec", CHECK_BOTH},
    {"php*", "curl.so", "curl_multi_exec", CHECK_MULTI},
    {"php*", "curl.so", "curl_exec", CHECK_EASY},
    {"python3*", "pycurl*", "CurlMulti", CHECK_MULTI},
    {"python3*", "pycurl*", NULL, CHECK_EASY},
    {"perl*", "Curl.so", "WWW::Curl::Multi", CHECK_MULTI},
    {"perl*", "Curl.so", NULL, CHECK_EASY},
    {"tclsh*", "libTclCurl*", "curl::multiinit", CHECK_MULTI},
    {"tclsh*", "libTclCurl*", NULL, CHECK_EASY},
    {"slsh", "curl-module.so", "curl_multi_perform", CHECK_MULTI},
    {"slsh", "curl-module.so", NULL, CHECK_EASY},
    {"ocamlrun", "dllcurl-helper.so", "Curl.Multi", CHECK_MULTI},
    {"ocamlrun", "dllcurl-helper.so", NULL, CHECK_EASY},
    {"R", "RCurl.so", "getURIAsynchronous", CHECK_MULTI},
    {"R", "RCurl.so", NULL, CHECK_EASY},
    {"R", "curl.so", NULL, CHECK_MULTI},
    {"R", "internet.so", NULL, CHECK_MULTI},
    {"transmission-remote", "", NULL, CHECK_EASY},
    {"lnav", "", NULL, CHECK_MULTI},
    {"mediainfo", "libmediainfo.so*", NULL, CHECK_EASY},
    {"flatpak", "libostree-1.so*", "remote-add", 0},
    {"zypper", "libzypp.so*", NULL, CHECK_EASY},
    {"qemu-img", "block-curl.so", "info", CHECK_EASY},
    {"samtools", "hfile_s3_write.so", "http:|https:|ftp:", 0},
    {"gdalinfo", "libgdal.so*", "/vsicurl", CHECK_MULTI},
    {"gdalinfo", "libgdal.so*", NULL, CHECK_EASY},
    {"gdalinfo", "libxerces-c*", NULL, 0},
    {"gdalinfo", "lib*", "/vsicurl", 0},
};

const struct known_plugin KNOWN_PLUGINS[] = {
    {"php8.2", "/usr/lib/php/20220829/curl.so", "@/etc/php/8.2/cli/conf.d/*curl.ini", KNOWN_DEEPBIND},
    {"python3*", "/usr/lib/python3/dist-packages/pycurl*.so", "pycurl", KNOWN_LOCAL},
    {"python3*", NULL, "libcurl.so|libcurl-gnutls.so|libcurl-nss.so", KNOWN_DLSYM},
    {"perl", "/usr/lib/*/perl5/*/auto/WWW/Curl/Curl.so", "WWW::Curl", KNOWN_LOCAL},
    {"lua5.1", "/usr/lib/*/lua/5.1/curl.so", "require", KNOWN_LOCAL},
    {"python3*", "/usr/lib/python3/dist-packages/libdnf/_repo.*.so", "dnf.cli|import libdnf", KNOWN_LOCAL},
    {"tclsh*", "/usr/lib/tcltk/TclCurl*/libTclCurl*.so", "TclCurl", KNOWN_LOCAL},
    {"samtools", "/usr/lib/*/htslib/hfile_*.so", "http:|https:|ftp:|s3:|gs:", KNOWN_LOCAL},
    {"qemu-img", "/usr/lib/*/qemu/block-curl.so", "http:|https:|ftp:|ftps:", KNOWN_LOCAL},
    {"R", "/usr/lib/R/modules/internet.so", "download.file", KNOWN_LOCAL},
    {"R", "/usr/lib/R/site-library/curl/libs/curl.so", "curl::|library(curl)", KNOWN_LOCAL},
    {"R", "/usr/lib/R/site-library/RCurl/libs/RCurl.so", "RCurl", KNOWN_LOCAL},
    {"collectd", "/usr/lib/collectd/*.so", "*", KNOWN_LOCAL},
    {"kamailio", "/usr/lib/*/kamailio/modules/*.so", "*", KNOWN_LOCAL},
    {"pki", "/usr/lib/ipsec/plugins/libstrongswan-curl.so", "http:|https:", KNOWN_LOCAL},
    {"slsh", "/usr/lib/*/slang/v2/modules/curl-module.so", "curl", KNOWN_GLOBAL},
    {"nbdkit", "/usr/lib/*/nbdkit/plugins/nbdkit-curl-plugin.so", "curl", KNOWN_GLOBAL},
    {"ruby*", "/usr/lib/*/rubygems-integration/*/extensions/*/*/curb-*/curb_core.so", "curb", KNOWN_GLOBAL},
    {"ruby*", "/usr/lib/*/rubygems-integration/*/extensions/*/*/ffi-*/ffi_c.so", "ethon|typhoeus", KNOWN_DLSYM},
    {"ocamlrun", "/usr/lib/ocaml/stublibs/dllcurl-helper.so", "curl.cma", KNOWN_GLOBAL},
    {"syslog-ng", "/usr/lib/syslog-ng/*/libhttp.so", "http(", KNOWN_GLOBAL},
    {"apache2", "/usr/lib/apache2/modules/mod_security2.so", "security2_module", KNOWN_GLOBAL},
    {"apache2", "/usr/lib/apache2/modules/mod_auth_openidc.so", "auth_openidc_module", KNOWN_GLOBAL},
};
const size_t KNOWN_PLUGIN_COUNT = COUNT(KNOWN_PLUGINS);

const struct known_helper KNOWN_HELPERS[] = {
    {"git", "/usr/lib/git-core/git-remote-http", "clone|fetch|pull|push|ls-remote|archive|submodule|remote"},
    {"gpg1", "/usr/lib/gnupg1/gpgkeys_curl", "--fetch-keys"},
    {"casync", "/usr/lib/casync/protocols/casync-http", "http:|https:"},
    {"Rscript", "/usr/lib/R/bin/exec/R", NULL},
};
const size_t KNOWN_HELPER_COUNT = COUNT(KNOWN_HELPERS);

enum check_interface known_interface(const struct subject *subject, const char *object, bool is_program,
                                     enum check_interface possible, enum check_interface likely)
{
	for (size_t i = 0; i < COUNT(USES); i++) {
		const struct known_use *row = &USES[i];
		bool fits = row->object[0] ? fnmatch(row->object, basename(object), 0) == 0 : is_program;
		if (fits && subject_is(subject, row->program) && subject_has(subject, row->words, object))
			return row->interface & possible;
	}
	return likely;
}
