// SPDX-License-Identifier: Apache-2.0
// onnxGetBackendIDs and onnxReleaseBackendID.
#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

size_t Count(Context& t) {
  size_t count = 0;
  t.Expect(t.lib().GetBackendIDs(nullptr, &count), {ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendIDs(NULL, &n)");
  return count;
}

// For cases about the IDs themselves, so that there must be some.
size_t CountSome(Context& t) {
  size_t count = 0;
  const onnxStatus status = t.lib().GetBackendIDs(nullptr, &count);
  if (count == 0) {
    t.NoDevice(absl::StrCat("onnxGetBackendIDs(NULL, &n) returned ",
                            StatusName(status), " and lists no device"));
  }
  t.Expect(status, {ONNXIFI_STATUS_FALLBACK}, "onnxGetBackendIDs(NULL, &n)");
  return count;
}

void ReleaseAll(Context& t, const std::vector<onnxBackendID>& ids) {
  for (onnxBackendID id : ids) {
    t.Expect(t.lib().ReleaseBackendID(id), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseBackendID");
  }
}

void CountNull(Context& t) {
  onnxBackendID ids[4] = {};
  t.Expect(t.lib().GetBackendIDs(nullptr, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER}, "onnxGetBackendIDs(NULL, NULL)");
  t.Expect(t.lib().GetBackendIDs(ids, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER}, "onnxGetBackendIDs(ids, NULL)");
}

void CountOnly(Context& t) {
  const size_t want = Count(t);
  for (const size_t before : {size_t{0}, want, size_t{777}, ~size_t{0}}) {
    size_t count = before;
    t.Expect(t.lib().GetBackendIDs(nullptr, &count), {ONNXIFI_STATUS_FALLBACK},
             absl::StrCat("onnxGetBackendIDs(NULL, &n) with n = ", before));
    t.Check(count == want,
            absl::StrCat("onnxGetBackendIDs(NULL, &n) with n = ", before,
                         " stored ", count, ", not ", want));
  }
}

void ShortBuffer(Context& t) {
  const size_t want = CountSome(t);
  for (size_t capacity = 0; capacity < want; ++capacity) {
    std::vector<onnxBackendID> ids(want + 1, CanaryPointer());
    size_t count = capacity;
    t.Expect(t.lib().GetBackendIDs(ids.data(), &count),
             {ONNXIFI_STATUS_FALLBACK},
             absl::StrCat("onnxGetBackendIDs with room for ", capacity, " of ",
                          want));
    t.Check(count == want,
            absl::StrCat("onnxGetBackendIDs with room for ", capacity, " of ",
                         want, " stored the number ", count));
    for (onnxBackendID id : ids) {
      t.Check(id == CanaryPointer(),
              "onnxGetBackendIDs returned FALLBACK and stored an ID");
    }
  }
}

void Fill(Context& t) {
  const size_t want = CountSome(t);
  for (const size_t more : {0, 1, 5}) {
    std::vector<onnxBackendID> ids(want + more + 2, CanaryPointer());
    size_t count = want + more;
    t.Expect(t.lib().GetBackendIDs(ids.data(), &count),
             {ONNXIFI_STATUS_SUCCESS},
             absl::StrCat("onnxGetBackendIDs with room for ", want + more,
                          " of ", want));
    t.Check(count == want, absl::StrCat("onnxGetBackendIDs stored ", want,
                                        " IDs and reported ", count));
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i < want) {
        t.Check(ids[i] != nullptr && ids[i] != CanaryPointer(),
                absl::StrCat("ID ", i, " of ", want, " was not stored"));
      } else {
        t.Check(ids[i] == CanaryPointer(),
                absl::StrCat("onnxGetBackendIDs wrote past the last of ", want,
                             " IDs"));
      }
    }
    ids.resize(want);
    ReleaseAll(t, ids);
  }
}

void Distinct(Context& t) {
  const std::set<onnxBackendID> set(t.ids().begin(), t.ids().end());
  t.Check(set.size() == t.ids().size(), "two devices have the same ID");
}

void Stable(Context& t) {
  const std::vector<onnxBackendID> first = t.ids();
  for (int i = 0; i < 3; ++i) {
    std::vector<onnxBackendID> again(first.size());
    size_t count = again.size();
    t.Expect(t.lib().GetBackendIDs(again.data(), &count),
             {ONNXIFI_STATUS_SUCCESS}, "onnxGetBackendIDs");
    t.Check(count == again.size() &&
                std::is_permutation(first.begin(), first.end(), again.begin()),
            "onnxGetBackendIDs gives other IDs for the same devices");
    ReleaseAll(t, again);
  }
  // Those that are left are as good as before.
  size_t size = 0;
  t.Expect(t.lib().GetBackendInfo(t.id(), ONNXIFI_BACKEND_NAME, nullptr, &size),
           {ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendInfo of an ID of which another listing was released");
}

void StableAfterRelease(Context& t) {
  const size_t want = CountSome(t);
  std::vector<onnxBackendID> first(want), second(want);
  size_t count = want;
  t.Expect(t.lib().GetBackendIDs(first.data(), &count),
           {ONNXIFI_STATUS_SUCCESS}, "onnxGetBackendIDs");
  ReleaseAll(t, first);
  count = want;
  t.Expect(t.lib().GetBackendIDs(second.data(), &count),
           {ONNXIFI_STATUS_SUCCESS}, "onnxGetBackendIDs");
  t.Rule(std::is_permutation(first.begin(), first.end(), second.begin()),
         "a device has another ID after all its IDs were released");
  ReleaseAll(t, second);
}

void ReleaseTwice(Context& t) {
  std::vector<onnxBackendID> ids(CountSome(t));
  size_t count = ids.size();
  t.Expect(t.lib().GetBackendIDs(ids.data(), &count), {ONNXIFI_STATUS_SUCCESS},
           "onnxGetBackendIDs");
  ReleaseAll(t, ids);
  for (onnxBackendID id : ids) {
    t.Expect(t.lib().ReleaseBackendID(id), {ONNXIFI_STATUS_INVALID_ID},
             "onnxReleaseBackendID of a released ID");
  }
}

void ReleaseBeforeChildren(Context& t) {
  // The caller must not; what happens then is not the caller's death.
  Library& lib = t.lib();
  onnxBackendID id = t.id();
  onnxBackend backend = nullptr;
  t.ExpectRule(lib.InitBackend(id, nullptr, &backend), {ONNXIFI_STATUS_SUCCESS},
               "onnxInitBackend");
  std::vector<onnxBackendID> again(t.ids().size());
  for (size_t i = 0; i < t.ids().size(); ++i) {
    t.ExpectRule(lib.ReleaseBackendID(t.ids()[i]), {ONNXIFI_STATUS_SUCCESS},
                 "onnxReleaseBackendID before its backends are released");
  }
  t.ExpectRule(lib.ReleaseBackend(backend),
               {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_INVALID_BACKEND},
               "onnxReleaseBackend after its ID was released");
  // Clean() releases what ids() has listed.
  size_t count = again.size();
  t.ExpectRule(lib.GetBackendIDs(again.data(), &count),
               {ONNXIFI_STATUS_SUCCESS}, "onnxGetBackendIDs");
}

}  // namespace

std::vector<Case> IdCases() {
  return {
      {"ids.count_null", "numBackends NULL is INVALID_POINTER", CountNull},
      {"ids.count_only",
       "without a buffer, the number of devices is stored, whatever it was "
       "before, and FALLBACK is returned",
       CountOnly},
      {"ids.short_buffer",
       "a buffer that is too small is not written to; the number is stored: "
       "FALLBACK",
       ShortBuffer},
      {"ids.fill", "a sufficient buffer gets the IDs and nothing past them",
       Fill},
      {"ids.distinct", "each device has an ID of its own", Distinct},
      {"ids.stable",
       "a device has the same ID in every call, and each listing is released "
       "once",
       Stable},
      {"ids.stable_after_release",
       "a device has the same ID for the life of the process",
       StableAfterRelease},
      {"ids.release_twice", "an ID that has been released is INVALID_ID",
       ReleaseTwice},
      {"ids.release_before_children", "releasing an ID too early does no harm",
       ReleaseBeforeChildren, kRuleOnly},
  };
}

}  // namespace heddle::conformance
