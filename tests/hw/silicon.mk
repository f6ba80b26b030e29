# make silicon: one static program for any machine of this architecture. It records how the library works there.
silicon: $(B)/silicon
$(B)/silicon: $(B)/static/tests/hw/silicon
	$(call quiet,COPY)cp $< $@
.PHONY: silicon
