// SPDX-License-Identifier: Apache-2.0
//
// Both libraries report errors by a long jump. What lives across one is in
// structs of the caller (Png, Jpeg), and no object with a destructor is made
// between setjmp and the last call of the library.
#include "tools/heddle-run/image_file.h"

#include <png.h>
#include <setjmp.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

extern "C" {
// After <cstdio>, which jpeglib.h needs.
#include <jpeglib.h>
// After jpeglib.h.
#include <jerror.h>
}

namespace heddle::run {
namespace {

constexpr char kPngMagic[] = "\x89PNG\r\n\x1a\n";
constexpr char kJpegMagic[] = "\xff\xd8\xff";
// A progressive file may hold any number of scans, each of the whole image's
// work.
constexpr int kMaxScans = 500;
constexpr size_t kMaxPngChunk = 16 << 20;

absl::Status Damaged(const char* format, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the ", format, " image cannot be read: ", what));
}

absl::Status CheckSize(const char* format, uint64_t width, uint64_t height) {
  if (width >= 1 && height >= 1 && width <= kMaxImageSide &&
      height <= kMaxImageSide && width * height <= kMaxImagePixels) {
    return absl::OkStatus();
  }
  return Damaged(
      format,
      absl::StrCat(width, "x", height, " pixels; at most ", kMaxImageSide,
                   " per side and ", kMaxImagePixels, " in all are supported"));
}

// ---- PNG ----

struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const uint8_t* data = nullptr;
  size_t size = 0, at = 0;
  char error[128] = "";
  png_bytep rows[kMaxImageSide];

  ~Png() { png_destroy_read_struct(&png, &info, nullptr); }
};

void PngError(png_structp png, png_const_charp message) {
  auto* state = static_cast<Png*>(png_get_error_ptr(png));
  std::snprintf(state->error, sizeof(state->error), "%s", message);
  png_longjmp(png, 1);
}

void PngWarning(png_structp, png_const_charp) {}

void PngRead(png_structp png, png_bytep to, size_t count) {
  auto* state = static_cast<Png*>(png_get_io_ptr(png));
  if (count > state->size - state->at) png_error(png, "the file is cut off");
  std::memcpy(to, state->data + state->at, count);
  state->at += count;
}

// Everything up to the pixels. False: state->error.
bool PngHeader(Png* state) {
  if (setjmp(png_jmpbuf(state->png))) return false;
  png_set_read_fn(state->png, state, PngRead);
  png_set_user_limits(state->png, kMaxImageSide, kMaxImageSide);
  png_set_chunk_malloc_max(state->png, kMaxPngChunk);
  png_set_chunk_cache_max(state->png, 64);
  png_read_info(state->png, state->info);
  png_set_strip_16(state->png);
  png_set_expand(state->png);  // palettes, 1 to 4 bits
  png_set_gray_to_rgb(state->png);
  png_set_strip_alpha(state->png);
  png_set_interlace_handling(state->png);
  png_read_update_info(state->png, state->info);
  return true;
}

bool PngPixels(Png* state) {
  if (setjmp(png_jmpbuf(state->png))) return false;
  png_read_image(state->png, state->rows);
  png_read_end(state->png, nullptr);
  return true;
}

absl::StatusOr<Image> DecodePng(absl::string_view bytes) {
  auto state = std::make_unique<Png>();
  state->data = reinterpret_cast<const uint8_t*>(bytes.data());
  state->size = bytes.size();
  state->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, state.get(),
                                      PngError, PngWarning);
  if (state->png != nullptr) {
    state->info = png_create_info_struct(state->png);
  }
  if (state->info == nullptr) {
    return absl::ResourceExhaustedError("no memory for a PNG decoder");
  }
  if (!PngHeader(state.get())) return Damaged("PNG", state->error);
  Image image;
  image.width = png_get_image_width(state->png, state->info);
  image.height = png_get_image_height(state->png, state->info);
  if (auto s = CheckSize("PNG", image.width, image.height); !s.ok()) return s;
  const size_t row = image.width * 3;
  if (png_get_rowbytes(state->png, state->info) != row) {
    return Damaged("PNG", "its colour type is unknown");
  }
  image.rgb.resize(row * image.height);
  for (size_t y = 0; y < image.height; ++y) {
    state->rows[y] = &image.rgb[y * row];
  }
  if (!PngPixels(state.get())) return Damaged("PNG", state->error);
  return image;
}

// ---- JPEG ----

struct Jpeg {
  jpeg_error_mgr errors;  // first: the library gives a pointer to it
  jmp_buf jump;
  char error[JMSG_LENGTH_MAX];
  jpeg_progress_mgr progress;
  jpeg_decompress_struct decoder;
  bool made = false;

  Jpeg() : errors(), error(""), progress(), decoder() {}
  ~Jpeg() {
    if (made) jpeg_destroy_decompress(&decoder);
  }
};

void JpegError(j_common_ptr decoder) {
  auto* state = reinterpret_cast<Jpeg*>(decoder->err);
  decoder->err->format_message(decoder, state->error);
  longjmp(state->jump, 1);
}

// Level -1 is a warning about damaged data. Where an image ends too early the
// library would fill the rest with grey.
void JpegMessage(j_common_ptr decoder, int level) {
  if (level >= 0) return;
  const int code = decoder->err->msg_code;
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER) JpegError(decoder);
}

void JpegProgress(j_common_ptr common) {
  if (reinterpret_cast<j_decompress_ptr>(common)->input_scan_number <=
      kMaxScans) {
    return;
  }
  auto* state = reinterpret_cast<Jpeg*>(common->err);
  std::snprintf(state->error, sizeof(state->error), "more than %d scans",
                kMaxScans);
  longjmp(state->jump, 1);
}

bool JpegHeader(Jpeg* state, const uint8_t* data, size_t size) {
  if (setjmp(state->jump)) return false;
  jpeg_create_decompress(&state->decoder);
  state->made = true;
  state->decoder.progress = &state->progress;
  jpeg_mem_src(&state->decoder, data, size);
  jpeg_read_header(&state->decoder, TRUE);
  state->decoder.out_color_space = JCS_RGB;
  // One definition of the pixels, whatever the processor can do.
  state->decoder.dct_method = JDCT_ISLOW;
  return true;
}

bool JpegPixels(Jpeg* state, uint8_t* rgb, size_t row) {
  if (setjmp(state->jump)) return false;
  jpeg_start_decompress(&state->decoder);
  while (state->decoder.output_scanline < state->decoder.output_height) {
    JSAMPROW line = rgb + state->decoder.output_scanline * row;
    jpeg_read_scanlines(&state->decoder, &line, 1);
  }
  jpeg_finish_decompress(&state->decoder);
  return true;
}

absl::StatusOr<Image> DecodeJpeg(absl::string_view bytes) {
  auto state = std::make_unique<Jpeg>();
  state->decoder.err = jpeg_std_error(&state->errors);
  state->errors.error_exit = JpegError;
  state->errors.emit_message = JpegMessage;
  state->progress.progress_monitor = JpegProgress;
  if (!JpegHeader(state.get(), reinterpret_cast<const uint8_t*>(bytes.data()),
                  bytes.size())) {
    return Damaged("JPEG", state->error);
  }
  Image image;
  image.width = state->decoder.image_width;
  image.height = state->decoder.image_height;
  if (auto s = CheckSize("JPEG", image.width, image.height); !s.ok()) return s;
  const size_t row = image.width * 3;
  image.rgb.resize(row * image.height);
  if (!JpegPixels(state.get(), image.rgb.data(), row)) {
    return Damaged("JPEG", state->error);
  }
  return image;
}

}  // namespace

absl::StatusOr<Image> DecodeImage(absl::string_view bytes) {
  if (absl::StartsWith(bytes, kPngMagic)) return DecodePng(bytes);
  if (absl::StartsWith(bytes, kJpegMagic)) return DecodeJpeg(bytes);
  return absl::InvalidArgumentError(
      "neither a PNG nor a JPEG image (by its first bytes)");
}

}  // namespace heddle::run
